// Package clients tests the results of run.sh, which runs published clients.
package clients

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The table of clients in the documentation is that of the last run. Each client has passed, in the version that is pinned.
func TestTableOfClients(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(read(t, "results.tsv")), "\n")
	require.Greater(t, len(rows), 20)
	pins := read(t, "requirements.txt") + read(t, "package.json") + read(t, "pom.xml") + read(t, "run.sh")
	var want strings.Builder
	for _, row := range rows {
		cells := strings.Split(row, "\t")
		require.Len(t, cells, 5, row)
		want.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		checks, err := strconv.Atoi(cells[3])
		require.NoError(t, err, row)
		assert.Positive(t, checks, row)
		assert.Equal(t, "passed", cells[4], row)
		if strings.HasSuffix(cells[1], ")") && !strings.Contains(cells[1], "`requests`") && !strings.Contains(cells[1], "Node.js") {
			assert.Contains(t, pins, cells[2], row)
		}
	}
	_, table, found := strings.Cut(read(t, "../../docs/front-ends.md"), "| API | client | version | checks | result |\n|---|---|---|---|---|\n")
	require.True(t, found)
	if end := strings.Index(table, "\n\n"); end >= 0 {
		table = table[:end+1]
	}
	assert.Equal(t, want.String(), table, "make clients writes the table")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}
