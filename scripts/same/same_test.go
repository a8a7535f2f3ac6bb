// Package same compares two builds of the program, an old one and a new one: their answers over HTTP, gRPC and WebSockets, translated
// documents, exports, output of commands. Each must be equal byte for byte, or listed with a reason in differences.txt:
//
//	make same BASE=v0.2.0 [ARGS="-run TestSame/documents"]
//
// Without -old nothing is compared.
package same

import (
	_ "embed"
	"flag"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	oldProgram = flag.String("old", "", "the program to compare with")
	newProgram = flag.String("new", "", "the program to compare")
)

// differences has lines of a test's name, a tab and the reason for which builds before and after may differ in it.
//
//go:embed differences.txt
var differences string

func TestSame(t *testing.T) {
	if *oldProgram == "" {
		t.Skip("no -old: `make same` runs this")
	}
	models := t.TempDir()
	alone := pair{startService(t, *oldProgram, models), startService(t, *newProgram, models)}
	t.Run("http", func(t *testing.T) { compareAPI(t, alone) })
	t.Run("corpora", func(t *testing.T) { compareCorpora(t, alone) })
	t.Run("documents", func(t *testing.T) { compareDocuments(t, alone) })
	t.Run("live", func(t *testing.T) { compareLive(t, alone) })
	t.Run("grpc", func(t *testing.T) { compareCalls(t, alone) })
	t.Run("fleet", func(t *testing.T) {
		fleet := pair{startFleet(t, *oldProgram, *oldProgram, models), startFleet(t, *newProgram, *newProgram, models)}
		compareAPI(t, fleet)
		compareCorpora(t, fleet)
	})
	t.Run("fleet update", func(t *testing.T) { // members of both builds in each fleet
		compareCorpora(t, pair{startFleet(t, *oldProgram, *newProgram, models), startFleet(t, *newProgram, *oldProgram, models)})
	})
	t.Run("commands", compareCommands)
	t.Run("exports", compareExports)
}

// pair has something of the old and of the new build.
type pair [2]*service

// compare sends a request to both services, compares the answers and returns them.
func (p pair) compare(t *testing.T, name string, request func(base string) *http.Request) [2]string {
	t.Helper()
	var answers [2]string
	for i, s := range p {
		answers[i] = s.answer(t, request("http://"+s.address))
	}
	equal(t, name, answers[0], answers[1])
	return answers
}

// equal compares two texts, ignoring random parts and times.
func equal(t *testing.T, name, before, now string) {
	t.Helper()
	before, now = steady(before), steady(now)
	full := t.Name() + "/" + name
	for line := range strings.Lines(differences) {
		listed, reason, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if listed != "" && listed == full {
			require.NotEmpty(t, reason, "differences.txt: %s has no reason", listed)
			return
		}
	}
	if before != now {
		assert.Fail(t, "differs", "%s\n%s", full, difference(before, now))
	}
}

// difference shows the first lines in which two texts differ.
func difference(before, now string) string {
	const most = 20
	was, is := strings.Split(before, "\n"), strings.Split(now, "\n")
	var out strings.Builder
	for i, shown := 0, 0; i < max(len(was), len(is)) && shown < most; i++ {
		a, b := "", ""
		if i < len(was) {
			a = was[i]
		}
		if i < len(is) {
			b = is[i]
		}
		if a != b {
			shown++
			out.WriteString("- " + cut(a) + "\n+ " + cut(b) + "\n")
		}
	}
	return out.String()
}

// cut returns the beginning of a line.
func cut(line string) string {
	const most = 2000
	return line[:min(len(line), most)]
}

// unsteady matches the parts of answers that differ between runs.
var unsteady = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`), "TIME"},
	{regexp.MustCompile(`("(?:queueMs|computeMs|time_to_process|created|expiresAt|seconds|elapsed|responsetime|uptime|process_time|time_taken|ns|last_inference)":\s*)"?[0-9.e+-]+"?`), "${1}0"},
	{regexp.MustCompile(`\b(?:127\.0\.0\.1|localhost):\d+`), "ADDRESS"},
	{regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "UUID"},
	{regexp.MustCompile(`\b[0-9a-zA-Z_-]{20,64}\b`), "ID"},
	{regexp.MustCompile(`(?m)^((?:Ratelimit|X-Ratelimit|X-Response-Time|X-Runtime|X-Metered)[A-Za-z-]*: ).*$`), "${1}0"},
}

// steady replaces random parts and times.
func steady(text string) string {
	for _, u := range unsteady {
		text = u.pattern.ReplaceAllString(text, u.with)
	}
	return text
}
