package translate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Labels of catalogues of Qt and GTK are translated without the mark of their accelerator, and get one again.
func TestLabelsOfCatalogues(t *testing.T) {
	for in, want := range map[string]string{"&Open": "&OPEN", "_File": "_FILE", "T&oday": "T&ODAY", "&Water\tCtrl+W": "&WATER\tCtrl+W"} {
		got, err := service(t, runes{}, &upper{}).Translate(t.Context(), texts(in))
		require.NoError(t, err)
		assert.Equal(t, want, got[0].Text)
	}
}
