#!/usr/bin/env bash
# Converters from HTML to Markdown write emphasis of Chinese, Japanese and Korean that Markdown shows as asterisks.
#
# In CommonMark ** ends emphasis only if no letter follows a sign: in **注意：**请 a colon stands before the mark and a letter behind it, so both pairs
# of asterisks are shown. In languages with spaces a space follows. An underscore is a sign beside any letter, so _重要_ within a
# sentence is none either. turndown 7.2.5, and markdownify 1.2.3 of Python, on which many programs rely that send pages through language models,
# write such marks, and markdown-it 15.0.3 and markdown-it-py 4.3.0 show them. Whoever translates Markdown from English gets them, too: "**Note:** save".
# remark-stringify 11.0.0 writes the letter as &#x8BF7;, which works.
#
#   <strong>注意：</strong>请先保存。   -> **注意：**请先保存。          -> <p>**注意：**请先保存。</p>
#   これは<em>重要</em>です             -> turndown: これは_重要_です    -> <p>これは_重要_です</p>
#   これは<strong>「重要」</strong>です -> これは**「重要」**です        -> <p>これは**「重要」**です</p>
#
# The script fails if that changes. It needs Python 3.11, PyPI, Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check markdownify==1.2.3 markdown-it-py==4.3.0
cd "$work"
npm install --silent --no-audit --no-fund turndown@7.2.5 markdown-it@15.0.3 unified@11.0.5 rehype-parse@9.0.1 rehype-remark@10.0.1 remark-stringify@11.0.0
cat >write.mjs <<'JS'
import MarkdownIt from 'markdown-it'
import rehypeParse from 'rehype-parse'
import rehypeRemark from 'rehype-remark'
import remarkStringify from 'remark-stringify'
import TurndownService from 'turndown'
import { unified } from 'unified'

const remark = unified().use(rehypeParse, { fragment: true }).use(rehypeRemark).use(remarkStringify)
for (const html of ['<strong>注意：</strong>请先保存。', 'これは<em>重要</em>です', 'これは<strong>「重要」</strong>です']) {
  console.log('turndown: ' + new MarkdownIt().render(new TurndownService().turndown(html)).trim())
  console.log('remark: ' + new MarkdownIt().render(String(await remark.process(html))).trim())
}
JS
cat >write.py <<'PYTHON'
from markdown_it import MarkdownIt
from markdownify import markdownify

for html in "<strong>注意：</strong>请先保存。", "これは<em>重要</em>です", "これは<strong>「重要」</strong>です":
    print("markdownify: " + MarkdownIt().render(markdownify(html)).strip())
PYTHON
{ node write.mjs; venv/bin/python write.py; } | tee found
diff found - <<'SEEN' || { echo "other pages than were seen" >&2; exit 1; }
turndown: <p>**注意：**请先保存。</p>
remark: <p><strong>注意：</strong>请先保存。</p>
turndown: <p>これは_重要_です</p>
remark: <p>これは<em>重要</em>です</p>
turndown: <p>これは**「重要」**です</p>
remark: <p>これは<strong>「重要」</strong>です</p>
markdownify: <p>**注意：**请先保存。</p>
markdownify: <p>これは<em>重要</em>です</p>
markdownify: <p>これは**「重要」**です</p>
SEEN
