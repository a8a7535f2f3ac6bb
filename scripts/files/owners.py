"""Reads files by the Python libraries of their formats: each line of the input is a path, each line of the output is JSON with the path,
and either an error or the texts that the library reads. Of formats with two languages that is the target, or the source without one.
"""
import csv
import email
import email.policy
import json
import re
import signal
import sys

import docx
import fluent.syntax
import html5lib
import lxml.etree
import markdown_it
import mdit_py_plugins.footnote
import nbformat
import odf.namespaces
import odf.opendocument
import odf.teletype
import openpyxl
import polib
import pptx
import pysrt
import pysubs2
import ruamel.yaml
import ttconv.imsc.reader
import webvtt
import yaml
from translate.storage import factory, properties

csv.field_size_limit(1 << 30)


CATEGORY = re.compile("(.*_)?(zero|one|two|few|many)")


def leaves(value):
    """All texts, but of plural forms only other, which all languages have."""
    if isinstance(value, dict):
        for key, inner in value.items():
            form = CATEGORY.fullmatch(str(key))
            if not form or not isinstance(value.get((form[1] or "") + "other"), str):
                yield from leaves(inner)
    elif isinstance(value, (list, tuple, set)):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str):
        yield value
    else:
        yield repr(value)


def read_json(path):
    with open(path, encoding="utf-8-sig") as file:
        return list(leaves(json.load(file)))


def read_yaml(path):
    """What ruamel.yaml reads, an implementation of YAML 1.2; PyYAML, of 1.1, must read it too if it read the original."""
    with open(path, "rb") as file:
        content = file.read()
    texts = [text for document in ruamel.yaml.YAML(typ="safe", pure=True).load_all(content) for text in leaves(document)]
    try:
        texts.append("PyYAML: " + "\n".join(t for document in yaml.load_all(content, yaml.SafeLoader) for t in leaves(document)))
    except yaml.YAMLError as error:
        texts.append("PyYAML: " + type(error).__name__)
    return texts


def read_table(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        first = file.readline()
        file.seek(0)
        separator = max(",;\t|", key=first.count)
        return [cell for row in csv.reader(file, delimiter=separator) for cell in [str(len(row)), *row]]


def read_po(path):
    texts = []
    for entry in polib.pofile(path):
        if not entry.obsolete:
            plural = entry.msgstr_plural.get(max(entry.msgstr_plural, default=0))
            texts.append(entry.msgstr or plural or entry.msgid_plural or entry.msgid)
    return texts


def read_units(path):
    if path.endswith(".strings"):
        with open(path, "rb") as file:
            content = file.read()
        kind = properties.stringsfile if content[:2] in (b"\xff\xfe", b"\xfe\xff") else properties.stringsutf8file
        store = kind.parsestring(content)
    else:
        store = factory.getobject(path)
    texts = []
    for unit in store.units:
        if not unit.isheader() and unit.istranslatable() or unit.source or unit.target:
            texts.append(str(unit.target or unit.source or ""))
    return texts


def read_html(path):
    with open(path, "rb") as file:
        root = html5lib.parse(file, namespaceHTMLElements=False)
    return ["".join(root.itertext())] + [element.tag for element in root.iter() if isinstance(element.tag, str)]


def read_markdown(path):
    with open(path, encoding="utf-8-sig") as file:
        return markdown(file.read())


def markdown(text):
    tokens = markdown_it.MarkdownIt("commonmark").enable("table").use(mdit_py_plugins.footnote.footnote_plugin).parse(text)
    return [token.type if token.type != "inline" else inline(token) for token in tokens]


def inline(token):
    return "".join(child.content or (" " if "break" in child.type else "") for child in token.children)


def paragraphs(part):
    """The text of each paragraph of a part of WordprocessingML or DrawingML."""
    for paragraph in part.iter("{*}p"):
        yield "".join(element.text or "" for element in paragraph.iter("{*}t"))


def read_docx(path):
    document = docx.Document(path)
    return [*paragraphs(document.element), f"{len(document.tables)} tables"]


def read_pptx(path):
    return [text for slide in pptx.Presentation(path).slides for text in [str(len(slide.shapes)), *paragraphs(slide.element)]]


def read_xlsx(path):
    book = openpyxl.load_workbook(path, rich_text=False)
    return [cell for sheet in book.worksheets for row in sheet.iter_rows() for value in row if value.value is not None
            for cell in [f"{sheet.title} {value.coordinate} {value.data_type}", str(value.value)]]


def cues(list_of_cues):
    """The times, and then all texts as one: a sentence over several cues is divided again."""
    return [f"{start} {end}" for start, end, _ in list_of_cues] + ["".join(text for _, _, text in list_of_cues)]


def read_subtitles(path):
    return cues([(event.start, event.end, event.plaintext) for event in pysubs2.load(path)])


def read_srt(path):
    return cues([(cue.start, cue.end, cue.text) for cue in pysrt.open(path, error_handling=pysrt.ERROR_RAISE)])


def read_vtt(path):
    return cues([(cue.start, cue.end, cue.text) for cue in (webvtt.from_sbv if path.endswith(".sbv") else webvtt.read)(path)])


def read_ttml(path):
    ttconv.imsc.reader.to_model(lxml.etree.parse(path))
    return ["".join(lxml.etree.parse(path).getroot().itertext())]


def read_ipynb(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return [text for cell in notebook.cells for text in [cell.cell_type, *(markdown(cell.source) if cell.cell_type == "markdown" else [cell.source])]]


def read_odf(path):
    """The paragraphs of OpenDocument, by odfpy, but for the results of formulas, which LibreOffice computes."""
    body = odf.opendocument.load(path).body
    return [odf.teletype.extractText(element) for element in everything(body) if getattr(element, "tagName", "") in ("text:p", "text:h")
            and not (element.parentNode.tagName == "table:table-cell" and element.parentNode.getAttrNS(odf.namespaces.TABLENS, "formula"))]


def everything(element):
    yield element
    for child in element.childNodes:
        yield from everything(child)


def read_fluent(path):
    with open(path, encoding="utf-8") as file:
        resource = fluent.syntax.parse(file.read())
    texts = []

    class Visitor(fluent.syntax.visitor.Visitor):
        def generic_visit(self, node):
            texts.append(type(node).__name__)
            super().generic_visit(node)

        def visit_Variant(self, node):
            if node.default or getattr(node.key, "name", "1") not in ("zero", "one", "two", "few", "many", "1"):
                self.generic_visit(node)

        def visit_TextElement(self, node):
            texts.append(node.value)

    Visitor().visit(resource)
    return texts


def read_mail(path):
    with open(path, "rb") as file:
        message = email.message_from_binary_file(file, policy=email.policy.default)
    texts = []
    for part in message.walk():
        texts += [f"{name}: {part[name]}" for name in part.keys() if name.lower() not in ("content-transfer-encoding", "content-type", "mime-version")]
        texts.append(part.get_content_type())
        if not part.is_multipart():
            content = part.get_content()
            texts.append(repr(content) if not isinstance(content, str) else content if part.get_content_subtype() != "html" else page(content))
    return texts


def page(content):
    return "".join(html5lib.parse(content, namespaceHTMLElements=False).itertext())


def read_text(path):
    with open(path, encoding="utf-8-sig") as file:
        return file.read().split("\n\n")


def read_flat(path):
    """What LibreOffice wrote: paragraphs, and the formulas of cells with their results."""
    body = lxml.etree.parse(path, lxml.etree.XMLParser(huge_tree=True)).getroot().find("{*}body")
    texts = []
    for element in body.iter("{*}p", "{*}h", "{*}table-cell"):
        attributes = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
        if not element.tag.endswith("table-cell"):
            texts.append("".join(element.itertext()))
        elif "formula" in attributes:
            texts.append(" ".join(attributes.get(name, "") for name in ("formula", "value-type", "value", "boolean-value", "date-value")))
    return texts


READERS = {
    "json": read_json, "arb": read_json, "xcstrings": read_json, "yaml": read_yaml, "yml": read_yaml, "csv": read_table, "tsv": read_table,
    "po": read_po, "pot": read_po, "xlf": read_units, "xliff": read_units, "ts": read_units, "resx": read_units, "tmx": read_units,
    "strings": read_units, "html": read_html, "htm": read_html, "md": read_markdown, "markdown": read_markdown, "ipynb": read_ipynb,
    "docx": read_docx, "pptx": read_pptx, "xlsx": read_xlsx, "xlsm": read_xlsx, "ass": read_subtitles, "srt": read_srt, "vtt": read_vtt,
    "sbv": read_vtt, "ttml": read_ttml, "ftl": read_fluent, "eml": read_mail, "txt": read_text, **dict.fromkeys("odt ott ods ots odp otp odg".split(), read_odf),
    "fodg": read_flat, "fodt": read_flat, "fods": read_flat, "fodp": read_flat,
}


def late(*_):
    raise TimeoutError("it took longer than 20 seconds")


signal.signal(signal.SIGALRM, late)
for path in map(str.strip, sys.stdin):
    answer = {"path": path}
    try:
        signal.alarm(20)
        answer["texts"] = READERS[path.rpartition(".")[2].lower()](path)
    except Exception as error:  # what a library raises for a file that it cannot read
        answer["error"] = f"{type(error).__name__}: {error}"[:300]
    finally:
        signal.alarm(0)
    print(json.dumps(answer), flush=True)
