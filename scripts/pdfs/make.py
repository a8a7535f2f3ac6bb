"""Writes the story of story.json as a PDF by each producer that Python or a command has: make.py FOLDER [NAME...]."""

import html
import json
import os
import pathlib
import subprocess
import sys
import zlib

here = pathlib.Path(__file__).resolve().parent
story = json.loads((here / "story.json").read_text())
out = pathlib.Path(sys.argv[1]).resolve()
work = out / "work"
work.mkdir(parents=True, exist_ok=True)
producers = {}


def producer(name):
    def add(function):
        producers[name] = lambda: function(out / f"{name}.pdf")
        return function
    return add


def run(*command, **options):
    subprocess.run([str(c) for c in command], check=True, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)


def parts(key):
    """Yields the parts of a paragraph with their marks: b, i, c (a color), a (a link), n (a note), or nothing."""
    for part in story[key]:
        yield ("", part) if isinstance(part, str) else part


def joined(key, marks):
    return "".join(marks[mark](text) for mark, text in parts(key))


def picture(path):
    """Writes a small PNG."""
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    rows = b"".join(b"\0" + bytes(v for x in range(32) for v in (8 * x, 8 * y, 128)) for y in range(32))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", (32).to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0") + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    return path


image = picture(work / "picture.png")

# HTML

inline = {
    "": html.escape, "b": lambda t: f"<b>{t}</b>", "i": lambda t: f"<i>{t}</i>", "c": lambda t: f'<span style="color:#c00">{t}</span>',
    "a": lambda t: f'<a href="{t}">{t}</a>', "n": lambda t: f"<sup>{t}</sup>",
}


def page(style="", note=None, columns="columns"):
    marks = inline if note is None else inline | {"n": note}
    rows = "".join("<tr>" + "".join(f"<{'td' if n else 'th'}>{html.escape(c)}</{'td' if n else 'th'}>" for c in row) + "</tr>" for n, row in enumerate(story["table"]))
    footnote = "" if note else f"<p><small><sup>1</sup> {story['note']}</small></p>"
    two = f'<div class="two"><p>{story["left"]}</p><p>{story["right"]}</p></div>'
    if columns == "table":
        two = f'<table width="100%"><tr><td width="48%" valign="top">{story["left"]}</td><td width="4%"></td><td width="48%" valign="top">{story["right"]}</td></tr></table>'
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{story['title']}</title><style>
body {{ font-family: "Liberation Sans"; }} .two {{ columns: 2; column-gap: 1em; }} .two p {{ margin: 0 0 .5em; }} .band {{ height: 20px; background: linear-gradient(90deg, #06c, #fc0); }}
td, th {{ text-align: left; }} td:last-child {{ text-align: right; }} {style}</style></head><body>
<h1>{story['title']}</h1><div class="band"></div><p>{joined('intro', marks)}</p><p style="text-align:justify">{joined('office', marks)}</p><h2>{story['bring']}</h2>
<ul>{''.join(f'<li>{i}</li>' for i in story['items'])}</ul><img src="{image}" width="32" height="32"><table>{rows}</table><p>{story['caption']}</p>
<h2>{story['columns']}</h2>{two}<p>{html.escape(story['thanks'])}</p>{footnote}</body></html>"""


@producer("weasyprint")
def weasyprint(to):
    import weasyprint
    note = f'<span style="float:footnote">{story["note"]}</span>'
    weasyprint.HTML(string=page("@page { size: A4; } body { font-size: 10pt; }", note=lambda _: note), base_url="/").write_pdf(to)


def chromium(size):
    def write(to):
        source = work / f"{to.stem}.html"
        source.write_text(page(f"body {{ font-size: {size}pt; }} table {{ border-collapse: collapse; }}"))
        run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={work}/chromium", "--no-pdf-header-footer", f"--print-to-pdf={to}", source)
    return write


for size in (10, 11, 12):
    producer(f"chromium-{size}pt")(chromium(size))


@producer("wkhtmltopdf")
def wkhtmltopdf(to):
    source = work / "wkhtmltopdf.html"
    source.write_text(page(columns="table"))
    run("wkhtmltopdf", "-q", "--enable-local-file-access", source, to, env=os.environ | {"QT_QPA_PLATFORM": "offscreen"})


@producer("qt")
def qt(to):
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    sys.path.append("/usr/lib/python3/dist-packages")  # Debian's
    from PyQt5.QtGui import QGuiApplication, QPageSize, QPdfWriter, QTextDocument
    app = QGuiApplication.instance() or QGuiApplication([])
    writer = QPdfWriter(str(to))
    writer.setPageSize(QPageSize(QPageSize.A4))
    document = QTextDocument()
    document.documentLayout().setPaintDevice(writer)
    document.setPageSize(__import__("PyQt5.QtCore").QtCore.QSizeF(writer.width(), writer.height()))
    document.setHtml(page(columns="table"))
    document.print_(writer)
    del app


@producer("libreoffice")
def libreoffice(to):
    style = lambda name, p: f'<style:style style:name="{name}" style:family="text"><style:text-properties {p}/></style:style>'
    marks = {
        "": html.escape, "b": lambda t: f'<text:span text:style-name="B">{t}</text:span>', "i": lambda t: f'<text:span text:style-name="I">{t}</text:span>',
        "c": lambda t: f'<text:span text:style-name="C">{t}</text:span>', "a": lambda t: f'<text:a xlink:type="simple" xlink:href="{t}">{t}</text:a>',
        "n": lambda t: f'<text:note text:id="n1" text:note-class="footnote"><text:note-citation>{t}</text:note-citation><text:note-body><text:p text:style-name="Footnote">{story["note"]}</text:p></text:note-body></text:note>',
    }
    p = lambda text, s="Standard": f'<text:p text:style-name="{s}">{text}</text:p>'
    cells = lambda row: "<table:table-row>" + "".join(f'<table:table-cell office:value-type="string">{p(html.escape(c))}</table:table-cell>' for c in row) + "</table:table-row>"
    source = work / "libreoffice.fodt"
    source.write_text(f"""<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:styles><style:style style:name="Standard" style:family="paragraph"><style:paragraph-properties fo:margin-bottom="0.2cm"/><style:text-properties fo:font-size="11pt" style:font-name="Liberation Serif"/></style:style>
<style:style style:name="Footnote" style:family="paragraph"><style:text-properties fo:font-size="9pt"/></style:style>
<style:style style:name="Heading" style:family="paragraph" style:parent-style-name="Standard"><style:text-properties fo:font-size="16pt" fo:font-weight="bold"/></style:style></office:styles>
<office:automatic-styles>{style("B", 'fo:font-weight="bold"')}{style("I", 'fo:font-style="italic"')}{style("C", 'fo:color="#cc0000"')}
<style:style style:name="J" style:family="paragraph" style:parent-style-name="Standard"><style:paragraph-properties fo:text-align="justify"/></style:style>
<text:list-style style:name="L"><text:list-level-style-bullet text:level="1" text:bullet-char="•"><style:list-level-properties text:list-level-position-and-space-mode="label-alignment"><style:list-level-label-alignment text:label-followed-by="listtab" fo:text-indent="-0.6cm" fo:margin-left="1.2cm"/></style:list-level-properties></text:list-level-style-bullet></text:list-style>
<style:style style:name="S" style:family="section"><style:section-properties><style:columns fo:column-count="2" fo:column-gap="0.4cm"/></style:section-properties></style:style></office:automatic-styles>
<office:body><office:text>{p(story["title"], "Heading")}{p(joined("intro", marks))}{p(joined("office", marks), "J")}{p(story["bring"], "Heading")}
<text:list text:style-name="L">{"".join(f"<text:list-item>{p(i)}</text:list-item>" for i in story["items"])}</text:list>
<table:table><table:table-column table:number-columns-repeated="3"/>{"".join(map(cells, story["table"]))}</table:table>{p(story["caption"])}{p(story["columns"], "Heading")}
<text:section text:style-name="S" text:name="S">{p(story["left"], "J")}{p(story["right"], "J")}</text:section>{p(html.escape(story["thanks"]))}</office:text></office:body></office:document>""")
    run("soffice", f"-env:UserInstallation=file://{work}/office", "--headless", "--convert-to", "pdf", "--outdir", work, source)
    (work / "libreoffice.pdf").rename(to)


# TeX

escape = str.maketrans({"$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "€": r"\texteuro{}"})
tex_marks = {
    "": lambda t: t.translate(escape), "b": lambda t: rf"\textbf{{{t}}}", "i": lambda t: rf"\emph{{{t}}}", "c": lambda t: rf"\textcolor{{red}}{{{t}}}", "a": lambda t: rf"\url{{{t}}}",
    "n": lambda t: rf"\footnote{{{story['note']}}}",
}


def tex(preamble, columns=False, graphics="picture.png"):
    rows = "".join(" & ".join(c.translate(escape) for c in row) + r" \\ \hline" + "\n" for row in story["table"])
    begin, end = (r"\begin{multicols}{2}", r"\end{multicols}")
    body = rf"""\section*{{{story['title']}}}
{joined('intro', tex_marks)}

{joined('office', tex_marks)}
\subsection*{{{story['bring']}}}
\begin{{itemize}}{''.join(chr(10) + chr(92) + 'item ' + i for i in story['items'])}
\end{{itemize}}
{rf'{chr(92)}includegraphics[width=1cm]{{{graphics}}}' if graphics else ''}

\noindent\begin{{tabular}}{{|l|l|r|}}\hline
{rows}\end{{tabular}}

\noindent {story['caption']}
\subsection*{{{story['columns']}}}
{'' if columns else begin}
{story['left']}

{story['right']}
{'' if columns else end}
\noindent {story['thanks'].translate(escape)}
"""
    kind = "twocolumn,11pt" if columns else "11pt"
    return rf"\documentclass[{kind}]{{article}}" + "\n" + preamble + r"""
\usepackage{textcomp,multicol,xcolor,graphicx}
\usepackage[hidelinks]{hyperref}
\usepackage[margin=2.5cm]{geometry}
\begin{document}
""" + body + r"\end{document}"


def latex(name, command, preamble, columns=False, then=None, graphics="picture.png"):
    @producer(name)
    def write(to):
        (work / f"{name}.tex").write_text(tex(preamble, columns, graphics))
        run(command, "-interaction=nonstopmode", f"{name}.tex")
        for step in then or []:
            run(*[s.format(name=name) for s in step])
        (work / f"{name}.pdf").rename(to)


latex("pdflatex", "pdflatex", "")
latex("pdflatex-t1", "pdflatex", r"\usepackage[T1]{fontenc}\usepackage{lmodern}")
latex("pdflatex-times", "pdflatex", r"\usepackage[T1]{fontenc}\usepackage{tgtermes}")
latex("pdflatex-columns", "pdflatex", "", columns=True)
latex("xelatex", "xelatex", r"\usepackage{fontspec}\setmainfont{LiberationSerif-Regular.ttf}[Path=/usr/share/fonts/truetype/liberation/, BoldFont=LiberationSerif-Bold.ttf, ItalicFont=LiberationSerif-Italic.ttf]")
latex("lualatex", "lualatex", r"\usepackage{fontspec}\setmainfont{DejaVuSerif.ttf}[Path=/usr/share/fonts/truetype/dejavu/, BoldFont=DejaVuSerif-Bold.ttf]")
latex("dvips", "latex", "", then=[("dvips", "-q", "{name}.dvi"), ("ps2pdf", "{name}.ps")], graphics="")


@producer("typst")
def typst(to):
    import typst
    quoted = lambda text: json.dumps(text, ensure_ascii=False)
    marks = {
        "": lambda t: f"#{quoted(t)}", "b": lambda t: f"#strong[{t}]", "i": lambda t: f"#emph[{t}]", "c": lambda t: f"#text(fill: red)[{t}]", "a": lambda t: f"#link({quoted(t)})",
        "n": lambda t: f"#footnote[{story['note']}]",
    }
    cells = ", ".join(f"[#{quoted(c)}]" for row in story["table"] for c in row)
    source = work / "typst.typ"
    items = "\n".join("- " + i for i in story["items"])
    source.write_text(f"""= {story['title']}
#rect(width: 100%, height: 8pt, fill: gradient.linear(blue, yellow))
{joined('intro', marks)}

#par(justify: true)[{joined('office', marks)}]
== {story['bring']}
{items}

#image("picture.png", width: 1cm)
#table(columns: 3, align: (left, left, right), {cells})
{story['caption']}
== {story['columns']}
#columns(2, gutter: 10pt)[#set par(justify: true)
{story['left']}

{story['right']}]
#{quoted(story['thanks'])}
""")
    typst.compile(str(source), output=str(to))


# Python

rml = {
    "": html.escape, "b": lambda t: f"<b>{t}</b>", "i": lambda t: f"<i>{t}</i>", "c": lambda t: f'<font color="red">{t}</font>', "a": lambda t: f'<a href="{t}" color="blue">{t}</a>',
    "n": lambda t: f"<super>{t}</super>",
}


@producer("reportlab")
def reportlab(to):
    from reportlab.lib.enums import TA_JUSTIFY
    from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
    from reportlab.platypus import BalancedColumns, Image, ListFlowable, Paragraph, SimpleDocTemplate, Table
    s = getSampleStyleSheet()
    normal, full = s["Normal"], ParagraphStyle("full", parent=s["Normal"], alignment=TA_JUSTIFY)
    SimpleDocTemplate(str(to)).build([
        Paragraph(story["title"], s["Title"]), Paragraph(joined("intro", rml), normal), Paragraph(joined("office", rml), full), Paragraph(story["bring"], s["Heading2"]),
        ListFlowable([Paragraph(i, normal) for i in story["items"]], bulletType="bullet"), Image(str(image), 32, 32), Table(story["table"], style=[("GRID", (0, 0), (-1, -1), 0.5, "black")]),
        Paragraph(story["caption"], normal), Paragraph(story["columns"], s["Heading2"]), BalancedColumns([Paragraph(story["left"], full), Paragraph(story["right"], full)], nCols=2, innerPadding=10),
        Paragraph(html.escape(story["thanks"]), normal), Paragraph(f"<super>1</super> {story['note']}", normal)])


@producer("rst2pdf")
def rst2pdf(to):
    marks = {"": str, "b": lambda t: f"**{t}**", "i": lambda t: f"*{t}*", "c": str, "a": lambda t: f"`{t} <{t}>`__", "n": lambda t: rf"\ [{t}]_"}
    line = lambda t, c: f"{t}\n{c * len(t)}\n\n"
    table = "".join(f"   * - {row[0]}\n     - {row[1]}\n     - {row[2]}\n" for row in story["table"])
    source = work / "rst2pdf.rst"
    source.write_text(line(story["title"], "=") + joined("intro", marks) + "\n\n" + joined("office", marks).replace("floor\\ ", "floor ") + "\n\n" + line(story["bring"], "-") + "".join(f"* {i}\n" for i in story["items"]) +
                      f"\n.. image:: {image}\n\n.. list-table::\n\n{table}\n{story['caption']}\n\n{line(story['columns'], '-')}{story['left']}\n\n{story['right']}\n\n{story['thanks']}\n\n.. [1] {story['note']}\n")
    run(pathlib.Path(sys.executable).parent / "rst2pdf", source, "-o", to)


def fpdf(shaping):
    def write(to):
        from fpdf import FPDF
        pdf = FPDF()
        pdf.add_page()
        fonts = "/usr/share/fonts/truetype/dejavu/DejaVuSans"
        pdf.add_font("D", "", fonts + ".ttf")
        pdf.add_font("D", "B", fonts + "-Bold.ttf")
        pdf.set_text_shaping(shaping)
        heading = lambda text: (pdf.set_font("D", "B", 16), pdf.multi_cell(0, 10, text, new_x="LMARGIN", new_y="NEXT"), pdf.set_font("D", "", 11))
        heading(story["title"])
        for mark, text in parts("intro"):
            pdf.set_font("D", "B" if mark == "b" else "", 11)
            pdf.set_text_color(200 if mark == "c" else 0, 0, 0)
            pdf.write(5, text, text if mark == "a" else "")
        pdf.set_font("D", "", 11)
        pdf.ln(8)
        pdf.multi_cell(0, 5, "".join(text for mark, text in parts("office") if mark != "n"), align="J", new_x="LMARGIN", new_y="NEXT")
        heading(story["bring"])
        for item in story["items"]:
            pdf.cell(6, 5, "•")
            pdf.multi_cell(0, 5, item, new_x="LMARGIN", new_y="NEXT")
        pdf.image(str(image), w=10)
        with pdf.table(text_align=("LEFT", "LEFT", "RIGHT")) as table:
            for row in story["table"]:
                table.row(row)
        pdf.cell(0, 8, story["caption"], new_x="LMARGIN", new_y="NEXT")
        heading(story["columns"])
        with pdf.text_columns(ncols=2, gutter=5, text_align="J") as columns:
            columns.write(story["left"])
            columns.new_column()
            columns.write(story["right"])
        pdf.multi_cell(0, 8, story["thanks"])
        pdf.output(str(to))
    return write


producer("fpdf2")(fpdf(False))
producer("fpdf2-shaped")(fpdf(True))


@producer("matplotlib")
def matplotlib(to):
    import matplotlib
    matplotlib.use("pdf")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots()
    axes.plot([1, 2, 3], [1250.50, 375, 14.99])
    axes.set_title(story["title"])
    axes.set_xlabel(story["bring"])
    axes.set_ylabel(story["columns"])
    axes.annotate(story["items"][0], (2, 375))
    figure.savefig(to)


@producer("pymupdf")
def pymupdf(to):
    import pymupdf
    book = pymupdf.Story(page(columns="table").replace(f'<img src="{image}" width="32" height="32">', ""))
    writer = pymupdf.DocumentWriter(str(to))
    box = pymupdf.paper_rect("a4")
    more = True
    while more:
        device = writer.begin_page(box)
        more, _ = book.place(box + (36, 36, -36, -36))
        book.draw(device)
        writer.end_page()
    writer.close()


@producer("cairo")
def cairo(to):
    import cairocffi
    surface = cairocffi.PDFSurface(str(to), 595, 842)
    c = cairocffi.Context(surface)
    y = 60
    def write(text, x=50, size=11, bold=False, width=480):
        nonlocal y
        c.select_font_face("Liberation Sans", 0, 1 if bold else 0)
        c.set_font_size(size)
        line = ""
        for word in text.split() + [None]:
            if word is None or c.text_extents(line + word)[4] > width:
                c.move_to(x, y)
                c.show_text(line.strip())
                y += 1.25 * size
                line = ""
            line += f"{word} "
    write(story["title"], size=18, bold=True)
    for key in ("intro", "office"):
        y += 8
        write("".join(text for mark, text in parts(key) if mark != "n"))
    y += 8
    write(story["bring"], size=14, bold=True)
    for item in story["items"]:
        c.new_path()
        c.arc(55, y - 4, 2, 0, 6.3)
        c.fill()
        write(item, x=65)
    y += 8
    for row in story["table"]:
        top = y
        for x, cell in zip((50, 150, 350), row):
            y = top
            write(cell, x)
    y += 8
    write(story["caption"])
    write(story["columns"], size=14, bold=True)
    top = y
    write(story["left"], width=235)
    y, end = top, y
    write(story["right"], x=298, width=235)
    y = end + 8
    write(story["thanks"])
    surface.finish()


# Others

@producer("groff")
def groff(to):
    marks = {"": lambda t: t.replace("$", "$"), "b": lambda t: rf"\fB{t}\fP", "i": lambda t: rf"\fI{t}\fP", "c": lambda t: rf"\m[red]{t}\m[]", "a": str, "n": lambda t: r"\**"}
    note = f"\n.FS\n{story['note']}\n.FE\n"
    rows = "\n".join("\t".join(row) for row in story["table"])
    source = work / "groff.ms"
    office = joined("office", marks)
    source.write_text(f".TL\n{story['title']}\n.LP\n{joined('intro', marks)}\n.LP\n{office}{note}.SH\n{story['bring']}\n" + "".join(f".IP \\(bu 2\n{i}\n" for i in story["items"]) +
                      f".TS\nl l r.\n{rows}\n.TE\n.LP\n{story['caption']}\n.SH\n{story['columns']}\n.2C\n.LP\n{story['left']}\n.LP\n{story['right']}\n.1C\n.LP\n{story['thanks']}\n")
    with open(to, "wb") as f:
        subprocess.run(["groff", "-Kutf8", "-t", "-ms", "-Tpdf", source], check=True, stdout=f, stderr=subprocess.DEVNULL)


@producer("fop")
def fop(to):
    marks = {
        "": html.escape, "b": lambda t: f'<fo:inline font-weight="bold">{t}</fo:inline>', "i": lambda t: f'<fo:inline font-style="italic">{t}</fo:inline>', "c": lambda t: f'<fo:inline color="red">{t}</fo:inline>',
        "a": lambda t: f'<fo:basic-link external-destination="url({t})">{t}</fo:basic-link>',
        "n": lambda t: f'<fo:footnote><fo:inline font-size="7pt" baseline-shift="super">{t}</fo:inline><fo:footnote-body><fo:block font-size="8pt">{t} {story["note"]}</fo:block></fo:footnote-body></fo:footnote>',
    }
    block = lambda text, more="": f'<fo:block space-after="6pt" {more}>{text}</fo:block>'
    rows = "".join("<fo:table-row>" + "".join(f"<fo:table-cell><fo:block>{html.escape(c)}</fo:block></fo:table-cell>" for c in row) + "</fo:table-row>" for row in story["table"])
    items = "".join(f'<fo:list-item><fo:list-item-label end-indent="label-end()"><fo:block>•</fo:block></fo:list-item-label><fo:list-item-body start-indent="body-start()"><fo:block>{i}</fo:block></fo:list-item-body></fo:list-item>' for i in story["items"])
    flow = lambda body: f'<fo:flow flow-name="xsl-region-body" font-family="Helvetica" font-size="10pt">{body}</fo:flow>'
    source = work / "fop.fo"
    source.write_text(f"""<fo:root xmlns:fo="http://www.w3.org/1999/XSL/Format"><fo:layout-master-set>
<fo:simple-page-master master-name="one" page-width="210mm" page-height="297mm" margin="20mm"><fo:region-body/></fo:simple-page-master>
<fo:simple-page-master master-name="two" page-width="210mm" page-height="297mm" margin="20mm"><fo:region-body column-count="2" column-gap="4mm"/></fo:simple-page-master></fo:layout-master-set>
<fo:page-sequence master-reference="one">{flow(block(story["title"], 'font-size="18pt" font-weight="bold"') + block(joined("intro", marks)) + block(joined("office", marks), 'text-align="justify"') + block(story["bring"], 'font-size="14pt" font-weight="bold"') + f'<fo:list-block provisional-distance-between-starts="4mm">{items}</fo:list-block>' + f'<fo:table table-layout="fixed" width="120mm"><fo:table-column column-width="25mm"/><fo:table-column column-width="65mm"/><fo:table-column column-width="30mm"/><fo:table-body>{rows}</fo:table-body></fo:table>' + block(story["caption"]))}</fo:page-sequence>
<fo:page-sequence master-reference="two">{flow(block(story["columns"], 'font-size="14pt" font-weight="bold" span="all"') + block(story["left"], 'text-align="justify"') + block(story["right"], 'text-align="justify" break-before="column"') + block(html.escape(story["thanks"]), 'span="all"'))}</fo:page-sequence></fo:root>""")
    run("fop", source, to)


@producer("ghostscript")
def ghostscript(to):
    run("gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pdfwrite", f"-sOutputFile={to}", out / "libreoffice.pdf")


@producer("qpdf")
def qpdf(to):
    run("qpdf", "--linearize", "--object-streams=generate", out / "pdflatex.pdf", to)


@producer("qpdf-owner")
def qpdf_owner(to):
    run("qpdf", "--encrypt", "", "owner", "256", "--modify=none", "--", out / "typst.pdf", to)


@producer("no-tounicode")
def no_tounicode(to):
    import pikepdf
    with pikepdf.open(out / "pdflatex.pdf") as pdf:
        for item in pdf.objects:
            if isinstance(item, pikepdf.Dictionary) and item.get("/Type") == "/Font" and "/ToUnicode" in item:
                del item["/ToUnicode"]
        pdf.save(to)


@producer("ocrmypdf")
def ocrmypdf(to):
    run("pdftoppm", "-r", "150", "-png", "-singlefile", out / "pdflatex.pdf", work / "scan")
    run("ocrmypdf", "--image-dpi", "150", work / "scan.png", to)


failed = 0
for name in sys.argv[2:] or producers:
    if name not in producers or (out / f"{name}.pdf").exists():
        continue
    try:
        producers[name]()
    except Exception as error:  # a producer that is not there is said, and the others go on
        failed += 1
        print(f"{name}: {error} {getattr(error, 'stderr', b'') or ''}", file=sys.stderr)
sys.exit(1 if failed else 0)
