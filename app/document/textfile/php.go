package textfile

import (
	"regexp"
	"strconv"
	"strings"
)

// phpToken matches a token of PHP.
var phpToken = regexp.MustCompile(`^(?:'(?:[^'\\]|\\(?s:.))*'|"(?:[^"\\]|\\(?s:.))*"|/\*(?s:.*?)\*/|(?://|#)[^\r\n]*|<\?php|\?>|\s+|=>|[\w\\$]+|(?s:.))`)

// heredoc captures the label of a text over several lines, which stays.
var heredoc = regexp.MustCompile(`^<<<[ \t]*['"]?(\w+)['"]?\r?\n`)

// php translates the strings of PHP that are values of arrays, elements of arrays that are set ($x['a'] = 'b'), and constants, not
// keys, arguments or parts of an expression.
func php(p *pass) {
	if !strings.HasPrefix(strings.TrimSpace(p.text), "<?php") {
		p.refuse(nil, "the file does not start with <?php")
	}
	p.formatter, p.isPiped = formatterOf(p.text), true
	var open []bool        // whether each open bracket is that of an array
	last, before := "", "" // the last tokens that are not white space
	called := ""           // the last word before a parenthesis
	isSet := false         // whether the next token is the value of an element of an array, or of a constant
	start, end := -1, -1   // the range of a string that may be a value
	for at := 0; at < len(p.text); {
		token := p.text[at : at+p.looks.Find(phpToken, p.text[at:])[1]]
		if m := heredoc.FindStringSubmatch(p.text[at:]); m != nil {
			end := p.looks.Find(regexp.MustCompile(`\n[ \t]*`+m[1]+`\b`), p.text[at:])
			if end == nil {
				end = []int{0, len(p.text) - at}
			}
			token = p.text[at : at+end[1]]
		}
		if strings.Contains(`'"`, token) || token == "/" && strings.HasPrefix(p.text[at:], "/*") {
			p.refuse(nil, "the string or comment that starts in line %d is not closed", p.lineNumber(at))
		}
		from := at
		at += len(token)
		if isBlankPHP(token) {
			continue
		}
		if start >= 0 && strings.Contains(",]);", token) {
			p.phpString(start, end)
		}
		start = -1
		isText := len(token) > 1 && (token[0] == '\'' || token[0] == '"')
		switch {
		case token == "[" || token == "(":
			called = last
			open = append(open, token == "[" && !isIndexed(last) || strings.EqualFold(last, "array"))
		case (token == "]" || token == ")") && len(open) > 0:
			open = open[:len(open)-1]
		case isText && len(open) > 0 && open[len(open)-1] && strings.Contains("[(,=>", last), isText && isSet:
			start, end = from, at
		}
		isSet = token == "=" && len(open) == 0 && (last == "]" || strings.EqualFold(before, "const")) || token == "," && len(open) == 1 && strings.EqualFold(called, "define")
		last, before = token, last
	}
}

// isBlankPHP reports whether a token is white space or a comment.
func isBlankPHP(token string) bool {
	return strings.TrimSpace(token) == "" || strings.HasPrefix(token, "/*") || strings.HasPrefix(token, "//") || token[0] == '#'
}

// isIndexed reports whether a bracket behind a token is that of an index.
func isIndexed(token string) bool {
	return phpWord.MatchString(token) && !strings.EqualFold(token, "return") || token == "]" || token == ")"
}

var phpWord = regexp.MustCompile(`^[\w\\$]+$`)

// phpString translates a string. One in double quotes with variables stays.
func (p *pass) phpString(start, end int) {
	raw := p.text[start+1 : end-1]
	text, encode := readSingle.Replace(raw), func(text string) string { return "'" + writeSingle.Replace(text) + "'" }
	if p.text[start] == '"' {
		if phpVariable.MatchString(raw) {
			return
		}
		text = phpEscape.ReplaceAllStringFunc(raw, readPHP)
		encode = func(text string) string { return `"` + strings.ReplaceAll(escapeC.Replace(text), "$", `\$`) + `"` }
	}
	p.data(start, end, text, encode)
}

// readPHP returns the text of an escape.
func readPHP(escape string) string {
	if code, ok := strings.CutPrefix(escape, `\u{`); ok {
		n, _ := strconv.ParseUint(strings.TrimSuffix(code, "}"), 16, 32) // of six digits
		return string(rune(n))
	}
	return readC(escape)
}

var (
	// phpEscape matches the escapes of a string in double quotes: any other backslash is one.
	phpEscape   = regexp.MustCompile(bytesC + `|\\(?:[nrtvf\\$"]|u\{[0-9a-fA-F]{1,6}\})`)
	phpVariable = regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*(?:\$[A-Za-z_{]|\{\$)`)
	readSingle  = strings.NewReplacer(`\\`, `\`, `\'`, "'")
	writeSingle = strings.NewReplacer(`\`, `\\`, "'", `\'`)
)
