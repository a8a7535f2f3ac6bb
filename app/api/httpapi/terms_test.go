package httpapi

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
)

func TestTermsAreRefused(t *testing.T) {
	for terms, want := range map[string]fault.Failure{
		`[{"source":"a"}` + strings.Repeat(`,{"source":"a"}`, 1000) + `]`: {Kind: fault.InvalidOption, Field: "payload.glossary"},
		`[{"target":"a"}]`:               {Kind: fault.MissingField, Field: "payload.glossary[0].source"},
		`[{"source":"a","target":null}]`: {Kind: fault.WrongType, Field: "payload.glossary[0].target"},
		`[{"source":"a","Target":"b"}]`:  {Kind: fault.UnknownField, Field: "payload.glossary[0].Target"},
		`{}`:                             {Kind: fault.WrongType, Field: "payload.glossary"},
	} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest("POST", "/", strings.NewReader(`{"payload":{"fromLang":"en","toLang":"fr","glossary":`+terms+`,"records":[]}}`))
		c.Request.Header.Set("Content-Type", "application/json")
		_, err := decodeTranslation(c, 1024)
		var got *fault.Failure
		require.ErrorAs(t, err, &got)
		assert.Equal(t, [2]any{want.Kind, want.Field}, [2]any{got.Kind, got.Field}, got.Message)
	}
}
