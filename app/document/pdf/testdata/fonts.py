"""Writes ../fonts.txt, of fontTools 4 and ReportLab 4: fonts.py.

A line has the letters of a glyph ("g name code..."), the glyphs of an encoding ("e name glyph...", "-" for none), or the widths of a
font in thousandths of its size ("w font glyph=width...").
"""

import pathlib

from fontTools import agl
from reportlab.pdfbase import _fontdata as data

lines = []
names = dict(agl.LEGACY_AGL2UV) | dict(agl.AGL2UV)
for name in sorted(names):
    codes = [names[name]] if isinstance(names[name], int) else names[name]
    if not any(0xE000 <= code <= 0xF8FF for code in codes):  # which say nothing
        lines.append(f"g {name} " + " ".join(f"{code:04X}" for code in codes))
for name in sorted({n for n in data.encodings["ZapfDingbatsEncoding"] if n and n != "space"}):
    lines.append(f"g {name} " + " ".join(f"{ord(c):04X}" for c in agl.toUnicode(name, isZapfDingbats=True)))
for name in ("Standard", "WinAnsi", "MacRoman", "Symbol", "ZapfDingbats"):
    lines.append(f"e {name} " + " ".join(glyph or "-" for glyph in data.encodings[name + "Encoding"]))
for font in ("Helvetica", "Helvetica-Bold", "Times-Roman", "Times-Bold", "Times-Italic", "Times-BoldItalic", "Symbol", "ZapfDingbats"):
    widths = data.widthsByFontGlyph[font]
    lines.append(f"w {font} " + " ".join(f"{glyph}={widths[glyph]}" for glyph in sorted(widths)))
pathlib.Path(__file__).with_name("..").joinpath("fonts.txt").resolve().write_text("\n".join(lines) + "\n")
