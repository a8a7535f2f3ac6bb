package markup

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Identifiers come back character for character, in the middle of a sentence and at its end.
func TestIdentifiers(t *testing.T) {
	for _, name := range []string{
		"doi:10.1000/x", "10.1000/182", "doi:10.1002/(SICI)1097-4571(199806)49:8", "arXiv:2101.00001v2", "urn:isbn:0451450523", "PMID:123456",
		"v1.2.3", "v2", "V8", "1.2.3", "10.0.19045", "10.0.19045.3803", "2.0.0-rc.1", "1.2.3+build.5", "v1.2.3-beta",
		"AB-1234-X", "SKU-00123", "CVE-2024-12345", "ISO-8859-1", "COVID-19", "F-16", "4TB2K9", "WH1000XM4",
		"a1b2c3d", "da39a3ee5e6b4b0d3255bfef95601890afd80709", "0x7fff5fbff8c0",
		"123e4567-e89b-12d3-a456-426614174000", "192.168.0.1", "10.0.0.0/8", "127.0.0.1:8080", "2001:db8::1", "fe80::1", "00:1A:2B:3C:4D:5E",
		"978-3-16-148410-0", "978 3 16 148410 0", "3-16-148410-0", "0-306-40615-X", "ISBN:9783161484100",
		"2026-11-22", "2026-11-22T10:30:00Z", "2026-11-22 10:30", "2026-11-22T10:30:00.123+01:00", "10:30:15", "00:12.00", "00:01:02,345",
		"[00:12.00]", "[10:30]", "[00:01:02.345]", "<00:12.00>",
		"DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19",
		"+49 30 1234567", "+1 (555) 123-4567", "+4930123456", "+44 (0)20 7946 0958", "(555) 123-4567", "555-123-4567", "555-1234", "030 1234567", "0800-123456",
		"#00ff00", "#1a2b3c",
	} {
		t.Run(name, func(t *testing.T) {
			for _, text := range []string{"See " + name + " now", "See " + name + ".", name, "(" + name + ")", "番号は" + name + "です"} {
				s := read(text, Text)
				if assert.Len(t, s.Spans, 1, text) {
					assert.Equal(t, name, s.spanText(0))
					assert.Equal(t, Code, s.Spans[0].Kind, text)
				}
			}
			_, err := read("See "+name+" now", Text).Verify(lasting, "Siehe 10.100/x jetzt")
			assert.ErrorIs(t, err, ErrLost)
		})
	}
}

// What is a number may be written as the language does, and what is a word translated.
func TestNoIdentifiers(t *testing.T) {
	for _, text := range []string{
		"5", "1,234.5", "1.234,5", "1.234.567", "1 234 567", "24.12.2024", "10:30", "3.14", "50%", "$20", "-5", "+5", "+500 km", "+1,000", "3rd", "5pm", "1990s", "10-20", "1914-1918", "12/24/2024",
		"Hello", "well-known", "3-year-old", "(1990)", "[1]", "2:1", "decade", "FBI", "A-Z", "12:", "5 - 6",
	} {
		for _, span := range must(Parse(lasting, "See "+text+" now", Text)).Spans {
			assert.NotEqual(t, Code, span.Kind, text)
		}
	}
}
