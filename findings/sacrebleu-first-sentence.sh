#!/usr/bin/env bash
# sacrebleu scores the first sentence alone when references come as lists for each sentence, and missing references are no error.
#
# corpus_bleu, corpus_chrf and corpus_ter of sacrebleu 2.6.0 take references by sets, one list for all sentences: [[r1, r2, r3]]. NLTK,
# torchmetrics and evaluate take them by sentences: [[r1], [r2], [r3]]. sacrebleu then has three sets of one sentence each, takes as many
# sentences as the shortest set has, and says nothing: a test set of thousands has the score of its first sentence. So do references that
# end too early, as of a download that broke off. The command line, which reads files, checks their lengths.
#
#   4 translations, of which the first alone is right:
#   [references]                  -> BLEU 23.9, chrF 28.9, TER 82.1
#   [[r] for r in references]     -> BLEU 100.0, chrF 100.0, TER 0.0
#   [references[:1]]              -> BLEU 100.0, chrF 100.0, TER 0.0
#
# The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check sacrebleu==2.6.0
cd "$work"
venv/bin/python - <<'PYTHON' | tee found
import sacrebleu

translations = ["the cat sat on the mat today", "completely wrong words here now ok", "another bad output of no use at all", "x y z w v u t s"]
references = ["the cat sat on the mat today", "dogs run fast in parks every day", "this is the right text for it", "nothing like this here at all sir"]
for given in [references], [[reference] for reference in references], [references[:1]]:
    scores = [score(translations, given).score for score in (sacrebleu.corpus_bleu, sacrebleu.corpus_chrf, sacrebleu.corpus_ter)]
    print("{} lists of {}: BLEU {:.1f}, chrF {:.1f}, TER {:.1f}".format(len(given), len(given[0]), *scores))
PYTHON
diff found - <<'SEEN' || { echo "other scores than were seen" >&2; exit 1; }
1 lists of 4: BLEU 23.9, chrF 28.9, TER 82.1
4 lists of 1: BLEU 100.0, chrF 100.0, TER 0.0
1 lists of 1: BLEU 100.0, chrF 100.0, TER 0.0
SEEN
