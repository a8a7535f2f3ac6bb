package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/client"
)

func TestPrinter(t *testing.T) {
	var out strings.Builder
	p := printer{out: &out}
	require.NoError(t, p.print([]client.Result{{Text: "a"}, {Text: "b", Alternatives: []client.Alternative{{Text: "b", Score: -0.125}, {Text: "c\td", Score: 0}}}}))
	require.NoError(t, p.print(nil))
	require.NoError(t, p.print([]client.Result{{Text: "e", Alternatives: []client.Alternative{{Text: "e", Score: -10}}}}))
	assert.Equal(t, "a\n2\t-0.1250\tb\n2\t0.0000\tc\td\n3\t-10.0000\te\n", out.String())
}
