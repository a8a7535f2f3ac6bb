// Writes the story of story.json as a PDF by each producer of npm: make.mjs FOLDER [NAME...].
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const here = path.dirname(new URL(import.meta.url).pathname);
const read = () => JSON.parse(fs.readFileSync(path.join(here, "story.json"), "utf8"));
let story = read();
const [folder, ...names] = process.argv.slice(2);
const require = createRequire(path.join(process.cwd(), "index.js"));
const parts = (key) => story[key].map((part) => (typeof part === "string" ? ["", part] : part)).filter(([mark]) => mark !== "n");
const plain = (key) => parts(key).map(([, text]) => text).join("");
const picture = path.resolve(folder, "work", "picture.png");
const regular = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
const bold = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf";

const producers = {
  async jspdf(to) {
    const { jsPDF } = require("jspdf");
    const doc = new jsPDF();
    let y = 20;
    const write = (text, size = 11, style = "normal", x = 20, width = 170) => {
      doc.setFont("helvetica", style).setFontSize(size);
      const lines = doc.splitTextToSize(text, width);
      doc.text(lines, x, y);
      y += lines.length * size * 0.41 + 3;
    };
    write(story.title, 18, "bold");
    write(plain("intro"));
    doc.link(20, 25, 60, 5, { url: "https://example.org/tickets?id=42" });
    write(plain("office"));
    write(story.bring, 14, "bold");
    for (const item of story.items) {
      doc.circle(22, y - 1.3, 0.6, "F");
      write(item, 11, "normal", 26, 160);
    }
    for (const row of story.table) {
      const top = y;
      row.forEach((cell, n) => {
        y = top;
        write(cell, 11, "normal", [20, 50, 120][n]);
      });
      doc.line(20, y - 6, 160, y - 6);
    }
    write(story.caption);
    write(story.columns, 14, "bold");
    const top = y;
    write(story.left, 11, "normal", 20, 82);
    const end = y;
    y = top;
    write(story.right, 11, "normal", 106, 82);
    y = Math.max(y, end) + 5;
    write(story.thanks);
    fs.writeFileSync(to, Buffer.from(doc.output("arraybuffer")));
  },
  pdfkit(to) {
    const PDFDocument = require("pdfkit");
    const doc = new PDFDocument();
    const done = new Promise((resolve) => doc.pipe(fs.createWriteStream(to)).on("finish", resolve));
    const heading = (text) => doc.moveDown(0.5).font("B").fontSize(16).fillColor("black").text(text, 72).font("R").fontSize(11).moveDown(0.3);
    doc.registerFont("R", regular).registerFont("B", bold);
    heading(story.title);
    const gradient = doc.linearGradient(72, 60, 540, 60).stop(0, "blue").stop(1, "yellow");
    doc.rect(72, 60, 468, 8).fill(gradient).fillColor("black");
    const intro = parts("intro");
    intro.forEach(([mark, text], n) =>
      doc.font(mark === "b" ? "B" : "R").fillColor(mark === "c" ? "red" : mark === "a" ? "blue" : "black")
        .text(text, { continued: n < intro.length - 1, link: mark === "a" ? text : null, underline: mark === "a" }));
    doc.font("R").fillColor("black").moveDown(0.5).text(plain("office"), { align: "justify" });
    heading(story.bring);
    doc.list(story.items, { bulletRadius: 2 });
    doc.image(picture, { width: 30 });
    doc.moveDown(1);
    let y = doc.y;
    for (const row of story.table) {
      row.forEach((cell, n) => doc.text(cell, [72, 150, 330][n], y, { width: [78, 180, 80][n], align: n === 2 ? "right" : "left" }));
      doc.moveTo(72, (y += 16) - 2).lineTo(410, y - 2).stroke();
    }
    doc.text(story.caption, 72, y + 4);
    heading(story.columns);
    y = doc.y;
    doc.text(story.left, 72, y, { width: 226, align: "justify" }).text(story.right, 313, y, { width: 226, align: "justify" });
    doc.text(story.thanks, 72, y + 130);
    doc.end();
    return done;
  },
  async pdfmake(to) {
    const pdfmake = require("pdfmake");
    pdfmake.setFonts({ R: { normal: regular, bold, italics: regular, bolditalics: bold } });
    const marked = (key) => parts(key).map(([mark, text]) => ({ text, bold: mark === "b", color: mark === "c" ? "red" : undefined, link: mark === "a" ? text : undefined }));
    const heading = (text) => ({ text, fontSize: 15, bold: true, margin: [0, 6, 0, 4] });
    await pdfmake.createPdf({
      defaultStyle: { font: "R", fontSize: 11 },
      content: [
        heading(story.title), { text: marked("intro"), margin: [0, 0, 0, 6] }, { text: plain("office"), alignment: "justify" }, heading(story.bring), { ul: story.items }, { image: picture, width: 30 },
        { table: { body: story.table } }, { text: story.caption }, heading(story.columns),
        { columns: [{ text: story.left, alignment: "justify" }, { text: story.right, alignment: "justify" }], columnGap: 10 }, { text: story.thanks, margin: [0, 8, 0, 0] },
      ],
    }).write(to);
  },
  async "react-pdf"(to) {
    const React = require("react");
    const { default: pdf, ...rest } = await import(require.resolve("@react-pdf/renderer"));
    const { Document, Page, Text, View, Link, Image, Font, renderToFile } = { ...pdf, ...rest };
    Font.register({ family: "R", fonts: [{ src: regular }, { src: bold, fontWeight: "bold" }] });
    const e = React.createElement;
    const heading = (text) => e(Text, { style: { fontSize: 15, fontWeight: "bold", marginVertical: 5 } }, text);
    const text = (value, style = {}) => e(Text, { style: { marginBottom: 5, ...style } }, value);
    await renderToFile(e(Document, null, e(Page, { size: "A4", style: { fontFamily: "R", fontSize: 11, padding: 50 } },
      heading(story.title),
      text(parts("intro").map(([mark, value], n) => (mark === "a" ? e(Link, { key: n, src: value }, value) : e(Text, { key: n, style: mark === "b" ? { fontWeight: "bold" } : mark === "c" ? { color: "red" } : {} }, value)))),
      text(plain("office"), { textAlign: "justify" }), heading(story.bring),
      ...story.items.map((item) => e(View, { key: item, style: { flexDirection: "row" } }, e(Text, { style: { width: 12 } }, "•"), e(Text, { style: { flex: 1 } }, item))),
      e(Image, { src: picture, style: { width: 30 } }),
      ...story.table.map((row) => e(View, { key: row[0], style: { flexDirection: "row" } }, ...row.map((cell, n) => e(Text, { key: n, style: { width: [70, 190, 80][n], textAlign: n === 2 ? "right" : "left" } }, cell)))),
      text(story.caption), heading(story.columns),
      e(View, { style: { flexDirection: "row", gap: 12 } }, text(story.left, { flex: 1, textAlign: "justify" }), text(story.right, { flex: 1, textAlign: "justify" })), text(story.thanks),
    )), to);
  },
};

let failed = 0;
for (const name of names.length > 0 ? names : Object.keys(producers)) {
  const to = path.join(folder, `${name}.pdf`);
  if (!producers[name] || fs.existsSync(to)) continue;
  story = read(); // pdfmake writes into it
  try {
    await producers[name](to);
  } catch (error) { // a producer that is not there is said, and the others go on
    failed++;
    console.error(`${name}: ${error.stack}`);
  }
}
process.exitCode = failed > 0 ? 1 : 0;
