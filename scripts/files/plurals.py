"""Prints what Fluent's Python finds wrong with the plurals in a folder, see plurals.go."""
import pathlib
import sys

import babel
import fluent.runtime

for folder in pathlib.Path(sys.argv[1]).iterdir():
    bundle = fluent.runtime.FluentBundle([folder.name], use_isolating=False)
    bundle.add_resource(fluent.runtime.FluentResource((folder / "messages.ftl").read_text("utf-8")))
    category = babel.Locale.parse(folder.name).plural_form
    for n in (0, 1, 2, 5, 11, 21, 101):
        got, errors = bundle.format_pattern(bundle.get_message("files").value, {"n": n})
        want = "ONE FILE" if n == 1 and category(1) == "one" else f"{n} FILES"
        if got != want or errors:
            print(folder.name, n, "fluent.runtime", repr(got), "instead of", repr(want), errors)
