package textfile

import (
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/htmlindex"

	"dragoman/app/document"
)

// mails are mails of one text: their heads and bodies, the segments in them, and the encodings after their translation into Russian.
var mails = []struct {
	name, head, body  string
	want              []string
	charset, transfer string
}{
	{"without MIME", "Subject: x\n", "Good morning\n", []string{"Good morning"}, "utf-8", "quoted-printable"},
	{"mailbox", "From a@b.c Mon Jan 1\nSubject: x\n", "Good morning\n", []string{"Good morning"}, "utf-8", "quoted-printable"},
	{"ASCII", "Content-Type: text/plain; charset=us-ascii; format=flowed\nContent-Transfer-Encoding: 7bit\n", "Good \nmorning\n\nBye\n", []string{"Good morning", "Bye"}, "utf-8", "quoted-printable"},
	{"UTF-8", "Content-Type: text/plain;\n\tcharset=\"UTF-8\"\nContent-Transfer-Encoding: 8bit\n", "caf\u00e9 open\n", []string{"caf\u00e9 open"}, "UTF-8", "8bit"},
	{"base64", "Content-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: BASE64\n", base64.StdEncoding.EncodeToString([]byte("\xc4\xcf\xcd open")), []string{"\u0434\u043e\u043c open"}, "koi8-r", "BASE64"},
	{"quoted-printable", "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n", "caf=E9 =\nopen\n", []string{"caf\u00e9 open"}, "utf-8", "quoted-printable"},
	{"old code page", "Subject: x\n", "caf\xe9 open\n", []string{"caf\u00e9 open"}, "utf-8", "quoted-printable"},
	{"marks of HTML", "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n", "a < b & c\n", []string{"a &lt; b &amp; c"}, "utf-8", "8bit"},
	{"quoted lines", "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n",
		"> This is a line that was wrapped at some width by a program of mails\n> here\n> \n> > John Smith\n> > London\n", []string{"This is a line that was wrapped at some width by a program of mails here", "John Smith", "London"}, "utf-8", "8bit"},
}

// Texts of mails are translated in their encodings, or in UTF-8 if these lack its letters, and net/mail reads them.
func TestMails(t *testing.T) {
	russian := func(text string) string { return "\u0434\u0430 " + text }
	for _, lineEnd := range []string{"\n", "\r\n"} {
		for _, c := range mails {
			t.Run(c.name, func(t *testing.T) {
				text := strings.ReplaceAll(c.head+"\n"+c.body, "\n", lineEnd)
				o := document.Options{From: "fr"}
				got, err := segments(t, kindNamed(t, "eml"), text, o)
				require.NoError(t, err)
				assert.Equal(t, c.want, got)
				out, err := rewritten(t, kindNamed(t, "eml"), text, o, func(text string) string { return text })
				require.NoError(t, err)
				assert.Equal(t, text, out)
				out, err = rewritten(t, kindNamed(t, "eml"), text, o, russian)
				require.NoError(t, err)
				assert.Equal(t, lineEnd == "\r\n", strings.Contains(out, "\r\n"))
				assert.Equal(t, strings.Count(out, "\n"), strings.Count(out, lineEnd))
				m, err := mail.ReadMessage(strings.NewReader(strings.TrimPrefix(out, "From a@b.c Mon Jan 1"+lineEnd)))
				require.NoError(t, err)
				media, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
				require.NoError(t, err)
				assert.Equal(t, []string{"text/plain", c.charset, c.transfer}, []string{media, parameters["charset"], m.Header.Get("Content-Transfer-Encoding")})
				read := bodyOf(t, m.Body, c.transfer, c.charset)
				for _, segment := range c.want {
					assert.Contains(t, strings.Join(strings.Fields(strings.ReplaceAll(read, "\n> ", " ")), " "), strings.NewReplacer("&lt;", "<", "&amp;", "&").Replace(russian(segment)))
				}
			})
		}
	}
}

// A text whose reader drops the space at the end of a wrapped line is not wrapped again.
func TestDroppedSpaces(t *testing.T) {
	const head = "Subject: x\nContent-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\nContent-Transfer-Encoding: 8bit\n\n"
	for _, c := range []struct{ text, translation, want string }{
		{"これは文です \n長い文です。\n", "one two three", "one two three\n"},
		{"one two  \nthree four\n", "これは長い文です。", "これは長い文です。\n"},
		{"one two  \nthree four\n", "five six seven", "five six seven\n"},
	} {
		got, err := rewritten(t, kindNamed(t, "eml"), head+c.text, document.Options{}, func(string) string { return c.translation })
		require.NoError(t, err)
		assert.Equal(t, head+c.want, got)
	}
}

func bodyOf(t *testing.T, body io.Reader, transfer, charset string) string {
	switch strings.ToLower(transfer) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	form, err := htmlindex.Get(charset)
	require.NoError(t, err)
	read, err := io.ReadAll(form.NewDecoder().Reader(body))
	require.NoError(t, err)
	return strings.ReplaceAll(string(read), "\r", "")
}

// Attachments, mails in mails, and what is around the parts stay.
func TestMailWithParts(t *testing.T) {
	const mailOfParts = "From: a@b.c\nSubject: The house\nContent-Language: en\nMIME-Version: 1.0\nContent-Type: multipart/mixed;\n\tboundary=\"b c\"\n\nFor old programs\n" +
		"--b c\nContent-Type: multipart/alternative; boundary=d\n\n--d\n\nGood morning\n--d\nContent-Type: text/html; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n" +
		"<html lang=3D\"en\"><p>A <b>caf=E9</b>\n--d--\n\n" +
		"--b c\nContent-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\nStays\n--b c\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBO\n" +
		"--b c\nContent-Type: message/rfc822\n\nSubject: y\n\nForwarded\n--b c--\nAfter it\n"
	got, err := segments(t, kindNamed(t, "eml"), mailOfParts, document.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"Good morning", "A <b>caf\u00e9</b>"}, got)
	out, err := rewritten(t, kindNamed(t, "eml"), mailOfParts, document.Options{From: "en", To: "de"}, func(text string) string { return "Das " + text })
	require.NoError(t, err)
	assert.Equal(t, strings.NewReplacer("Good", "Das Good", "<p>A", "<p>Das A", "lang=3D\"en\"", "lang=3D\"de\"", "Language: en", "Language: de").Replace(mailOfParts), out)
	m, err := mail.ReadMessage(strings.NewReader(out))
	require.NoError(t, err)
	parts := multipart.NewReader(m.Body, "b c")
	for _, want := range []string{"multipart/alternative; boundary=d", "text/plain", "image/png", "message/rfc822"} {
		part, err := parts.NextPart()
		require.NoError(t, err)
		assert.Equal(t, want, part.Header.Get("Content-Type"))
	}
}

func TestMailsRefused(t *testing.T) {
	deep := ""
	for i := range 30 {
		deep += fmt.Sprintf("Content-Type: multipart/mixed; boundary=a%d\n\n--a%d\n", i, i)
	}
	for text, want := range map[string]string{
		"Good morning\n": "no mail",
		"Content-Transfer-Encoding: base64\n\n!a!\n":             "line 1 is not valid base64",
		"Content-Type: text/plain; charset=x-none\n\na\n":        `"x-none", which is not known`,
		"Content-Type: text/plain; charset=euc-jp\n\n\xff\xff\n": "not valid in its encoding",
		deep: "more than 20 parts",
	} {
		_, err := segments(t, kindNamed(t, "eml"), text, document.Options{})
		requireRefused(t, err)
		assert.ErrorContains(t, err, want)
	}
}
