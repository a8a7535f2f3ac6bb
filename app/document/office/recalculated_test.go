package office

import (
	"fmt"
	"html"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/document/archive/archivetest"
)

// sheets is a workbook in short: cells by their references, by sheet. A text that begins with = is a formula.
type sheets map[string]map[string]string

// orders is the data of most cases.
func orders(more map[string]string) sheets {
	s := sheets{"Orders": {"A1": "Item", "B1": "Status", "C1": "Sum", "A2": "Red apple", "B2": "open", "C2": "=10*1", "A3": "Green apple", "B3": "closed", "C3": "=20*1",
		"A4": "Blue house", "B4": "open", "C4": "=30*1", "A5": "Old house", "B5": "waiting for delivery", "C5": "=40*1"},
		"Other sheet": {"A1": "A text of its own", "A2": "Old house"}}
	maps.Copy(s["Orders"], more)
	return s
}

// xlsx returns a workbook of Excel. after is XML behind the cells of the first sheet, defined the XML of names.
func (s sheets) xlsx(t testing.TB, after, defined string) []byte {
	const main = "application/vnd.openxmlformats-officedocument.spreadsheetml."
	const relations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	types := `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + main + `sheet.main+xml"/>`
	names, rels, entries := "", "", []archivetest.Entry{}
	for i, name := range slices.Sorted(maps.Keys(s)) {
		n := strconv.Itoa(i + 1)
		types += `<Override PartName="/xl/worksheets/sheet` + n + `.xml" ContentType="` + main + `worksheet+xml"/>`
		names += `<sheet name="` + name + `" sheetId="` + n + `" r:id="r` + n + `"/>`
		rels += `<Relationship Id="r` + n + `" Type="` + office + `/worksheet" Target="worksheets/sheet` + n + `.xml"/>`
		rows := map[int]string{}
		for _, at := range slices.Sorted(maps.Keys(s[name])) {
			cell, text := `<c r="`+at+`" t="str"><v>`+html.EscapeString(s[name][at])+`</v></c>`, s[name][at]
			if formula, ok := strings.CutPrefix(text, "="); ok {
				cell = `<c r="` + at + `"><f>` + html.EscapeString(formula) + `</f></c>`
			}
			_, row := cornerOf(at, corner{}, corner{})
			rows[row] += cell
		}
		data := ""
		for _, row := range slices.Sorted(maps.Keys(rows)) {
			data += `<row r="` + strconv.Itoa(row+1) + `">` + rows[row] + `</row>`
		}
		content := `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + data + `</sheetData>` + after + `</worksheet>`
		entries, after = append(entries, archivetest.Entry{Name: "xl/worksheets/sheet" + n + ".xml", Content: content}), ""
	}
	return archivetest.Zip(t, append([]archivetest.Entry{
		{Name: contentTypes, Content: types + `</Types>`},
		{Name: "_rels/.rels", Content: relations + `<Relationship Id="r1" Type="` + office + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{Name: "xl/workbook.xml", Content: `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="` + office + `"><sheets>` + names +
			`</sheets><definedNames>` + defined + `</definedNames></workbook>`},
		{Name: "xl/_rels/workbook.xml.rels", Content: relations + rels + `</Relationships>`},
	}, entries...)...)
}

// formulas has formulas over the data of orders.
var formulas = []struct {
	name, formula string
	kept          string // the first words of the cells that stay, separated by commas
}{
	{"equal text", `=COUNTIF(B2:B5,"open")`, "open"},
	{"equal text with its sign", `=COUNTIF(B2:B5,"=open")`, "open"},
	{"unequal text", `=COUNTIF(B2:B5,"<>closed")`, "closed"},
	{"joined text", `=COUNTIF(B2:B5,"op"&"en")`, "open"},
	{"pattern", `=COUNTIF(A2:A5,"*apple*")`, "Red,Blue"},
	{"joined pattern", `=COUNTIF(A2:A5,"*"&"apple")`, "Red,Blue"},
	{"pattern of a letter", `=COUNTIF(A:A,"?ed apple")`, "Red,Blue"},
	{"any text", `=COUNTIF(A2:A5,"*")`, ""},
	{"order", `=COUNTIF(B2:B5,">n")`, "open,closed,waiting"},
	{"numbers in order", `=SUMIF(C2:C5,">15",C2:C5)`, ""},
	{"two criteria", `=COUNTIFS(A2:A5,"Red*",B2:B5,"open")`, "Red,Blue,open,closed,waiting"},
	{"a cell as a criterion", `=COUNTIF(B2:B5,B2)`, ""},
	{"a pattern of a cell", `=COUNTIF(A2:A5,"*"&LEFT(A2,3)&"*")`, "Red,Blue"},
	{"left", `=SUMPRODUCT(--(LEFT(A2:A5,3)="Red"))`, "Red,Blue"},
	{"search", `=IF(ISNUMBER(SEARCH("house",A4)),1,0)`, "Blue"},
	{"length", `=LEN(A2)+C2`, "Red"},
	{"length of anything", `=IF(LEN(TRIM(A2))>0,C2,0)`, ""},
	{"address", `=IF(ISERROR(HYPERLINK("#"&A2,B2)),1,0)`, "Red"},
	{"lookup of a pattern", `=VLOOKUP("Red*",A2:C5,3,FALSE)`, "Red,Blue"},
	{"lookup of a text", `=VLOOKUP("Old house",A2:C5,3,FALSE)`, ""},
	{"lookup of a cell", `=VLOOKUP(A3,A2:C5,3,FALSE)`, ""},
	{"lookup in an order", `=IFERROR(VLOOKUP("Green b",A2:C5,3),0)`, "Red,Blue"},
	{"match", `=MATCH(A4,A2:A5,0)`, ""},
	{"match in an order", `=MATCH("Cat",A2:A5)`, "Red,Blue"},
	{"comparison", `=SUMPRODUCT((B2:B5="open")*C2:C5)`, "open"},
	{"comparison of order", `=IF(A2>A3,1,0)`, "Red"},
	{"comparison of joined texts", `=SUMPRODUCT(--(A2:A5&" "&B2:B5="Blue house open"))`, "Red,Blue,open,closed,waiting"},
	{"name", `=COUNTIF(Items,"*house")`, "Red,Blue"},
	{"offset", `=COUNTIF(OFFSET(A1,1,0,4,1),"*house")`, "Red,Blue,open,closed,waiting"},
	{"whole rows", `=COUNTIF(2:3,"*apple")`, "Red,open,closed"},
	{"array", `=SUM(IF(ISNUMBER(FIND({"R","G"},A2:A3)),1,0))`, "Red"},
	{"exact", `=IF(EXACT(TRIM(A2),"Red apple"),1,0)`, "Red"},
	{"switch", `=SWITCH(B2,"open",1,"closed",2,3)`, "open,closed"},
	{"result of another formula", `=COUNTIF(E2:E5,"Red*")`, "Red,Blue"},
	{"equal result of another formula", `=IF(E2="Red apple!",1,0)`, "Red"},
	{"text only", `=A2&" is "&B2`, ""},
	{"count", `=COUNTA(A:A)`, ""},
	{"comparison of a count", `=IF(COUNTA(A2:A5)>3,COUNTIF(B2:B5,B2),0)`, ""},
	{"indirect", `=COUNTA(INDIRECT(A4))`, "Blue"},
	{"patterns in an array", `=SUMPRODUCT(COUNTIF(A2:A5,{"*apple";"x"}))`, "Red,Blue"},
	{"an order in an array", `=SUMPRODUCT(COUNTIF(B2:B5,{"x",">n"}))`, "open,closed,waiting"},
	{"texts in an array", `=SUMPRODUCT(COUNTIF(B2:B5,{"open","closed"}))`, "open,closed"},
	{"a cell with a pattern", `=COUNTIF(A2:A5,F1)`, "Red,Blue"},
	{"a cell with an order", `=SUMIFS(C2:C5,B2:B5,F2)`, "open,closed,waiting"},
	{"a formula with a pattern", `=COUNTIF(A2:A5,F3)`, "Red,Blue"},
	{"a formula that joins a pattern", `=COUNTIF(A2:A5,F4)`, "Red,Blue"},
	{"a question as a criterion", `=COUNTIF(A2:A5,F5)`, ""},
	{"a composed text", `=COUNTIF(B2:B5,F6)`, "open,closed,waiting"},
	{"comparison with a composed text", `=IF(F6=B2,1,0)`, "open"},
	{"lookup of a composed text", `=IFERROR(VLOOKUP(F6,B2:C5,2,FALSE),0)`, "open,closed,waiting"},
	{"exact cells", `=IF(EXACT(B2,B4),1,0)`, "open"},
	{"other spellings", `=COUNTIF(F7:F9,F7)`, ""},
	{"match of other spellings", `=MATCH(F7,F8:F9,0)`, ""},
}

// workbookOf returns the workbook of a formula.
func workbookOf(t testing.TB, name, formula string) []byte {
	more := map[string]string{"D1": formula}
	if regexp.MustCompile(`F\d`).MatchString(formula) {
		maps.Copy(more, map[string]string{"F1": "*house", "F2": "<>closed", "F3": `=IF(C2>5,"*house","none")`, "F4": `=MID("xBlue",2,9)&"*"`, "F5": "Why so?",
			"F6": `=MID("xopen",2,9)`, "F7": "Big door", "F8": "big door", "F9": "BIG DOOR"})
	}
	if strings.HasSuffix(name, "another formula") {
		maps.Copy(more, map[string]string{"E2": `=A2&"!"`, "E3": `=A3&"!"`, "E4": `=A4&"!"`, "E5": `=A5&"!"`})
	}
	return orders(more).xlsx(t, "", `<definedName name="Items">Orders!$A$2:$A$5</definedName>`)
}

// Cells whose words a formula reads stay, and cells that it only compares for equality are translated.
func TestFormulas(t *testing.T) {
	for _, c := range formulas {
		t.Run(c.name, func(t *testing.T) {
			file, kept := workbookOf(t, c.name, c.formula), 0
			got := segmentsWith(t, file, document.Options{Kept: func() { kept++ }})
			assert.Contains(t, got, "A text of its own")
			for _, text := range []string{"Red apple", "Blue house", "open", "closed", "waiting for delivery"} {
				word, _, _ := strings.Cut(text, " ")
				assert.Equal(t, slices.Contains(strings.Split(c.kept, ","), word), !slices.Contains(got, text), text)
			}
			assert.GreaterOrEqual(t, kept, strings.Count(c.kept, ","))
		})
	}
}

// Formulas that compare cells find the same ones equal, whatever a translator does.
func TestComparedCellsStayEqual(t *testing.T) {
	texts := map[string]string{"A1": "Open", "A2": "open", "A3": "big", "A4": "large", "A5": "Big", "A6": "Hand", "B1": "Sum", "B2": "Total", "C1": "=COUNTIF(A1:A5,A1)", "C2": `=IF(A6="hand",1,0)`, "A7": "fist"}
	translations := map[string]string{"Open": "Offen", "open": "öffnen", "big": "groß", "large": "groß", "Big": "Groß", "Sum": "Summe", "Total": "Summe", "fist": "Hand"}
	kept := 0
	o := document.Options{Kept: func() { kept++ }}
	file := sheets{"Orders": texts}.xlsx(t, "", "")
	var out strings.Builder
	require.NoError(t, kindOf(t, "x.xlsx").Rewrite(t.Context(), &out, strings.NewReader(string(file)), int64(len(file)), o, func(text string) (string, error) {
		return translations[text], nil
	}))
	var values []string
	for _, e := range archivetest.Entries(t, []byte(out.String())) {
		for _, m := range regexp.MustCompile(`<v>([^<]*)</v>`).FindAllStringSubmatch(e.Content, -1) {
			values = append(values, m[1])
		}
	}
	assert.Equal(t, []string{"Offen", "Summe", "Offen", "Summe", "groß", "large", "Groß", "Hand", "Hand"}, values)
	assert.Equal(t, 2, kept) // Hand, which the formula has, and large
}

// Programs compute again the texts that formulas show, as far as they can.
func TestTextsOfFormulas(t *testing.T) {
	const formulas = `<c r="A1" t="s"><f>B1</f><v>0</v></c><c r="A2" t="str"><f>B1&amp;"x"</f><v>Old</v></c><c r="A3" t="str"><f>[1]S!A1</f><v>Far</v></c><c r="A4" t="b"><f>B1=B2</f><v>1</v></c><c r="B1" t="str"><v>Old</v></c>`
	const want = `<c r="A1" t="s"><f>B1</f><v>0</v></c><c r="A2" t="str"><f>B1&amp;"x"</f></c><c r="A3" t="str"><f>[1]S!A1</f><v>Far</v></c><c r="A4" t="b"><f>B1=B2</f><v>1</v></c><c r="B1" t="str"><v>OLD</v></c>`
	file := sheets{"S": nil}.xlsx(t, `<sheetData><row r="1">`+formulas+`</row></sheetData>`, "")
	for to, c := range map[string]struct{ cells, calculation string }{
		"":   {strings.Replace(formulas, "<v>Old</v></c>`", "", 1), ""},
		"de": {want, `<definedNames></definedNames><calcPr fullCalcOnLoad="1"/></workbook>`},
	} {
		var out strings.Builder
		require.NoError(t, kindOf(t, "x.xlsx").Rewrite(t.Context(), &out, strings.NewReader(string(file)), int64(len(file)), document.Options{To: to}, func(text string) (string, error) {
			if to == "" {
				return text, nil
			}
			return archivetest.Upper(text), nil
		}))
		all := ""
		for _, e := range archivetest.Entries(t, []byte(out.String())) {
			all += e.Content
		}
		assert.Contains(t, all, c.cells)
		assert.Contains(t, all, c.calculation)
	}
	assert.Equal(t, `<table:table-cell table:formula="of:=[.A1]" table:style-name="a"><office:annotation/></table:table-cell>`,
		cellOf(t, `<table:table-cell table:formula="of:=[.A1]" office:value-type="string" office:string-value="Old" calcext:value-type='string' table:style-name="a"><text:p>Old</text:p><office:annotation/></table:table-cell>`))
	far := `<table:table-cell table:formula="of:='file:///a'#$S.A1" office:value-type="string"><text:p>Far</text:p></table:table-cell>`
	assert.Equal(t, far, cellOf(t, far))
}

// cellOf returns the cell of a translated sheet of OpenDocument.
func cellOf(t *testing.T, cell string) string {
	const start = `<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" ` +
		`xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0" ` +
		`office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet><table:table table:name="S"><table:table-row>`
	file := start + cell + `</table:table-row></table:table></office:spreadsheet></office:body></office:document>`
	var out strings.Builder
	require.NoError(t, kindOf(t, "x.fods").Rewrite(t.Context(), &out, strings.NewReader(file), int64(len(file)), document.Options{To: "de"}, func(text string) (string, error) { return text, nil }))
	return strings.TrimSuffix(out.String()[len(start):], `</table:table-row></table:table></office:spreadsheet></office:body></office:document>`)
}

func segmentsWith(t testing.TB, file []byte, o document.Options) (list []string) {
	err := kindOf(t, "x.xlsx").Rewrite(t.Context(), nil, strings.NewReader(string(file)), int64(len(file)), o, func(text string) (string, error) {
		list = append(list, text)
		return text, nil
	})
	require.NoError(t, err)
	return list
}

// Conditions, lists and tables refer to cells like formulas.
func TestConditionsOfCells(t *testing.T) {
	for name, c := range map[string]struct{ after, kept, translated string }{
		"list of a name":     {`<dataValidations><dataValidation type="list" sqref="B2:B9"><formula1>INDIRECT($A2)</formula1></dataValidation></dataValidations>`, "Red apple", "open"},
		"list of ranges":     {`<dataValidations><dataValidation type="list" sqref="B2:B9"><formula1>$B$2:$B$5</formula1></dataValidation></dataValidations>`, "", "open"},
		"list of texts":      {`<dataValidations><dataValidation type="list" sqref="B2:B9"><formula1>"open,closed"</formula1></dataValidation></dataValidations>`, "open", "Red apple"},
		"conditional format": {`<conditionalFormatting sqref="A2:A5"><cfRule><formula>NOT(ISERROR(SEARCH("house",A2)))</formula></cfRule></conditionalFormatting>`, "Red apple", "open"},
		"filter":             {`<autoFilter ref="A1:B5"><filterColumn colId="1"><filters><filter val="open"/></filters></filterColumn></autoFilter>`, "open", "closed"},
		"shared formula":     {`<sheetData><row r="2"><c r="D2"><f t="shared" si="0" ref="D2:D5">SEARCH("house",A2)</f></c></row></sheetData>`, "Blue house", "open"},
	} {
		got := segmentsWith(t, orders(nil).xlsx(t, c.after, ""), document.Options{})
		assert.NotContains(t, got, c.kept, name)
		assert.Contains(t, got, c.translated, name)
	}
	got := segmentsWith(t, orders(map[string]string{"D1": "=INDIRECT(B5)", "D2": "Our fruit", "D3": "Other sheet"}).xlsx(t, "", `<definedName name="Our_fruit">Orders!$A$2</definedName>`), document.Options{})
	assert.NotContains(t, got, "Our fruit")
	assert.NotContains(t, got, "Other sheet")
}

var (
	formulaCell = regexp.MustCompile(`<table:table-cell[^>]*table:formula="([^"]*)"[^>]*>`)
	valueType   = regexp.MustCompile(`office:value-type="(\w+)"`)
	cellValue   = regexp.MustCompile(`office:(?:boolean-|date-)?value="([^"]*)"`)
)

// TestRecalculated recalculates workbooks by LibreOffice before and after their translation: all formula cells without text are
// equal. The workbooks of Excel are translated also as OpenDocument.
func TestRecalculated(t *testing.T) {
	if testing.Short() {
		t.Skip("LibreOffice takes long to start")
	}
	program, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("soffice is not installed")
	}
	dir := t.TempDir()
	convert := func(to, folder, out string) {
		files, err := filepath.Glob(filepath.Join(dir, folder, "*"))
		require.NoError(t, err)
		args := append([]string{"--headless", "-env:UserInstallation=file://" + dir + "/profile", "--convert-to", to, "--outdir", filepath.Join(dir, out)}, files...)
		output, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		require.NoError(t, err, string(output))
	}
	save := func(folder, name string, file []byte) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, folder), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, folder, name), file, 0o644))
	}
	load := func(folder, name string) []byte {
		file, err := os.ReadFile(filepath.Join(dir, folder, name))
		require.NoError(t, err)
		return file
	}
	// results returns the formulas with their results, except texts.
	results := func(file []byte) (list []string) {
		for _, e := range archivetest.Entries(t, file) {
			if e.Name == "content.xml" {
				for _, m := range formulaCell.FindAllStringSubmatch(e.Content, -1) {
					kind, value := valueType.FindStringSubmatch(m[0])[1], ""
					if kind != "string" {
						value = cellValue.FindStringSubmatch(m[0])[1]
					}
					list = append(list, html.UnescapeString(m[1])+" "+kind+" "+value)
				}
			}
		}
		return list
	}
	translate := func(from, to, name string) {
		file := load(from, name)
		out, err := rewrite(kindOf(t, name), file, func(text string) (string, error) { return "x" + archivetest.Upper(text), nil })
		require.NoError(t, err)
		save(to, name, out)
	}
	for i, c := range formulas {
		name := fmt.Sprintf("%02d", i)
		save("xlsx", name+".xlsx", workbookOf(t, c.name, c.formula))
		translate("xlsx", "xlsx-translated", name+".xlsx")
	}
	convert("ods", "xlsx", "ods")
	convert("ods", "xlsx-translated", "xlsx-results")
	for i := range formulas {
		name := fmt.Sprintf("%02d", i)
		// LibreOffice computes again only where there is no result.
		file := load("ods", name+".ods")
		save("ods-bare", name+".ods", withoutResults(t, file))
		translate("ods-bare", "ods-translated", name+".ods")
	}
	convert("ods", "ods-translated", "ods-results")
	for i, c := range formulas {
		name := fmt.Sprintf("%02d.ods", i)
		want := results(load("ods", name))
		require.GreaterOrEqual(t, len(want), 5)
		assert.Equal(t, want, results(load("xlsx-results", name)), c.name)
		assert.Equal(t, want, results(load("ods-results", name)), c.name)
	}
}

// withoutResults removes the results of formulas from a workbook of OpenDocument.
func withoutResults(t testing.TB, file []byte) []byte {
	entries := archivetest.Entries(t, file)
	for i, e := range entries {
		if e.Name == "content.xml" {
			entries[i].Content = regexp.MustCompile(`(<table:table-cell[^>]*table:formula="[^"]*")[^>]*?(/?)>(?:<text:p>[^<]*</text:p>)?`).ReplaceAllString(e.Content, "$1$2>")
		}
	}
	return archivetest.Zip(t, entries...)
}

// A formula takes linear work, whatever it has.
func FuzzFormula(f *testing.F) {
	for _, c := range formulas {
		f.Add(c.formula)
	}
	for _, part := range []string{"'a''", "[a", "[.a:", "a[", "a[[x]", `"`, "(", "SEARCH(A1,", "A1,", "A1&", "$A$1:B", "[.A1:.B2]", "1:", "x!"} {
		f.Add(strings.Repeat(part, 300))
	}
	f.Fuzz(func(t *testing.T, formula string) {
		w := newLearner(t.Context())
		w.tellFormula(formula, area{}, true)
		require.NoError(t, w.look(w.followFormulas))
		r := w.scan(w.book.formulas[0].text, corner{maxColumn, maxRow})
		require.LessOrEqual(t, len(r.areas), maxAreas+len(formula))
	})
}
