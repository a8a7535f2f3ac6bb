"""Makes the PDFs of the tests: python make.py in this folder, with reportlab, pikepdf, typst and weasyprint from PyPI, Chromium and DejaVu Sans."""

import subprocess
import urllib.parse

import pikepdf
import typst
import weasyprint
from reportlab import rl_config
from reportlab.lib.colors import red
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import (Image, ListFlowable, PageBreak, Paragraph, Preformatted, SimpleDocTemplate, Table)

rl_config.invariant = 1
styles = getSampleStyleSheet()
body = ParagraphStyle("body", parent=styles["Normal"], fontName="Times-Roman", fontSize=11, leading=13.5, alignment=TA_JUSTIFY, spaceAfter=8)
long = ("The ferry leaves the harbour at nine in the morning and returns in the late afternoon, when the tide is high enough for it to "
        "come back to the pier. Passengers who miss it have to stay on the island until the next day, where there is a small hotel.")


def report():
    SimpleDocTemplate("report.pdf", pagesize=A4, title="Report").build([
        Paragraph("The island and its ferry", styles["Title"]),
        Paragraph("1. How to get there", styles["Heading2"]),
        Paragraph(long, body),
        Paragraph("Buy a <b>return ticket</b> at the office, or write to <a href='https://example.com/'>the company</a> with "
                  "<font face='Courier'>ferry --book</font> a day before. Children pay <i>half</i> of the price.", body),
        ListFlowable([Paragraph("Take warm clothes.", body), Paragraph("Bring something to eat.", body)], bulletType="bullet"),
        Table([["Place", "Distance"], ["The old harbour", "12 km"], ["Lighthouse", "3 km"]]),
        Preformatted("for boat in boats:\n    boat.leave()", styles["Code"]),
        PageBreak(),
        Paragraph("The second page", styles["Heading1"]),
        Paragraph("It has little text.", body),
    ], onFirstPage=lambda c, _: decorate(c))


def decorate(c):
    c.setFillColor(red)
    c.rect(500, 780, 40, 20, fill=1)
    c.setFillColorRGB(0, 0, 0)
    c.drawString(480, 40, "Page one of two")
    c.saveState()
    c.translate(30, 300)
    c.rotate(90)
    c.drawString(0, 0, "Written along the edge")
    c.restoreState()


def columns():
    c = canvas.Canvas("columns.pdf", pagesize=A4)
    for x, text in ((60, "Left"), (320, "Right")):
        t = c.beginText(x, 700)
        t.setFont("Helvetica", 11)
        for line in (f"{text} column text that goes on in", "lines below the first one and is", "divided with a hyphen in a re-", "markable word near its end."):
            t.textLine(line)
        c.drawText(t)
    c.beginForm("stamp")
    c.drawString(0, 0, "Inside of a form")
    c.endForm()
    c.saveState()
    c.translate(60, 500)
    c.doForm("stamp")
    c.restoreState()
    c.save()


def scan():
    c = canvas.Canvas("scan.pdf", pagesize=A4)
    c.rect(100, 100, 300, 500, fill=1)
    c.save()
    c = canvas.Canvas("recognized.pdf", pagesize=A4)
    c.rect(100, 100, 300, 500, fill=1)
    t = c.beginText(100, 700)
    t.setTextRenderMode(3)
    t.textLine("Text behind the picture")
    c.drawText(t)
    c.save()


def locked():
    with pikepdf.open("columns.pdf") as pdf:
        pdf.save("password.pdf", encryption=pikepdf.Encryption(user="secret", owner="secret"))
        pdf.save("owner.pdf", encryption=pikepdf.Encryption(user="", owner="secret", allow=pikepdf.Permissions(modify_other=True)))
        pdf.save("owner-objects.pdf", encryption=pikepdf.Encryption(user="", owner="secret"), object_stream_mode=pikepdf.ObjectStreamMode.generate)


def right_to_left():
    texts = (("he", "שלום (אחד) עולם, לא [שתיים] בשנה (2026) עם Office (2024) היום."), ("ar", "لا تفتح الباب (واحد) ولا تلمس الأسلاك «اثنان» سنة (2026)."))
    source = '#set page(width: 500pt, height: 120pt, margin: 20pt)\n#set text(font: "DejaVu Sans", dir: rtl, size: 10pt)\n'
    typst.compile((source + "".join(f'#par(text(lang: "{code}")[#"{text}"])\n\n' for code, text in texts)).encode(), output="right-typst.pdf")
    page = '<meta charset=utf-8><style>@page{size:500pt 120pt;margin:20pt}body{font:10pt "DejaVu Sans"}</style>'
    page += "".join(f"<p dir=rtl lang={code}>{text}</p>" for code, text in texts)
    weasyprint.HTML(string=page).write_pdf("right-weasyprint.pdf")
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--print-to-pdf=right-chromium.pdf", "--no-pdf-header-footer",
                    "data:text/html," + urllib.parse.quote(page)], check=True)


report()
right_to_left()
columns()
scan()
locked()
