package access

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a request says about its key is a key that is in it, or an error; TestKeys
// has the cases.
func FuzzHeaderKeys(f *testing.F) {
	f.Add("Bearer dgm_A", "", "", "")
	f.Add("DeepL-Auth-Key  dgm_A ", "dgm_A", "", "dgm_B")
	f.Add("Basic YWxpY2U6c2VjcmV0", " ", "dgm_A", "\u00a0")
	f.Add("bearer", "Bearer", "\xff", "\x00\xff")
	f.Fuzz(func(t *testing.T, authorization, header, azure, body string) {
		h := http.Header{"Authorization": {authorization}, "X-Api-Key": {header}, "Ocp-Apim-Subscription-Key": {azure}}
		key, err := oneKey(append(headerKeys(h), body))
		if err != nil {
			assert.Empty(t, key)
			return
		}
		assert.NotEmpty(t, key)
		assert.Equal(t, strings.TrimSpace(key), key)
		assert.True(t, strings.HasSuffix(strings.TrimSpace(authorization), key) ||
			strings.TrimSpace(header) == key || strings.TrimSpace(azure) == key || strings.TrimSpace(body) == key)

		again, err := oneKey([]string{key, key, ""})
		require.NoError(t, err)
		assert.Equal(t, key, again)
		_, err = oneKey([]string{key, key + "x"})
		assert.ErrorIs(t, err, ErrBadKey)
	})
}
