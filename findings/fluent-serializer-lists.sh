#!/usr/bin/env bash
# Fluent's own serializers write lists that Fluent's parsers drop: of a text with "* item" on a line of its own the first line is left.
#
# In a file of Fluent a line of a text may not begin with [, * or ., and no text may have a brace; such a sign is written {"*"}. fluent.syntax 0.19.0 of
# Python and @fluent/syntax 0.19.0 of npm, by which programs write such files, put a TextElement into the file as it is.
# The parser takes the line for the start of something else and makes Junk of it, which the runtimes skip without an error: the message ends
# before the list, or is missing and its id is shown. Nothing but a look at the page tells that the rest is lost.
#
#   "To go on:\n* close the window\n* start again" -> fluent.runtime shows "To go on:", @fluent/bundle "To go on:"
#   "Formats:\n.txt and .md" -> fluent.runtime has no message, @fluent/bundle shows "Formats:"
#
# The script fails if that changes. It needs Python 3.11, PyPI, Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check fluent.syntax==0.19.0 fluent.runtime==0.4.0
cd "$work"
npm install --silent --no-audit --no-fund @fluent/syntax@0.19.0 @fluent/bundle@0.19.1
cat >write.py <<'PYTHON'
from fluent.runtime import FluentBundle, FluentResource
from fluent.syntax import ast, serialize

for text in "To go on:\n* close the window\n* start again", "Formats:\n.txt and .md":
    file = serialize(ast.Resource([ast.Message(ast.Identifier("help"), ast.Pattern([ast.TextElement(text)]))]))
    bundle = FluentBundle(["en"])
    bundle.add_resource(FluentResource(file))
    print("Python:", bundle.format_pattern(bundle.get_message("help").value, {})[0] if bundle.has_message("help") else "no message")
PYTHON
cat >write.mjs <<'JS'
import { FluentBundle, FluentResource } from '@fluent/bundle'
import { Identifier, Message, Pattern, Resource, TextElement, serialize } from '@fluent/syntax'

for (const text of ['To go on:\n* close the window\n* start again', 'Formats:\n.txt and .md']) {
  const file = serialize(new Resource([new Message(new Identifier('help'), new Pattern([new TextElement(text)]))]), {})
  const bundle = new FluentBundle('en')
  const errors = bundle.addResource(new FluentResource(file))
  const message = bundle.getMessage('help')
  console.log(`JavaScript: ${message ? bundle.formatPattern(message.value) : 'no message'}, ${errors.length} errors`)
}
JS
{ venv/bin/python write.py; node write.mjs; } | tee found
diff found - <<'SEEN' || { echo "other answers than were seen" >&2; exit 1; }
Python: To go on:
Python: no message
JavaScript: To go on:, 0 errors
JavaScript: Formats:, 0 errors
SEEN
