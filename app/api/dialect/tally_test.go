package dialect

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"

	"dragoman/app/translate"
)

// The log names each model once, and shortens the list to fit a line.
func TestModelsOfATally(t *testing.T) {
	result := func(model, version string) translate.Result {
		return translate.Result{Model: model, Version: version}
	}
	for want, results := range map[string][]translate.Result{
		"":                {result("", "")},
		"[model=b:2 a:1]": {result("b", "2"), result("", ""), result("a", "1"), result("b", "2")},
	} {
		assert.Equal(t, want, modelsOf(results))
	}
	var many []translate.Result
	for i := range 1000 {
		many = append(many, result(fmt.Sprintf("m%d", i), "1"))
	}
	assert.Equal(t, "[model=m0:1 m1:1 m2:1 m3:1 m4:1 m5:1 m6:1 m7:1 …]", modelsOf(many))
}

// modelsOf returns the log's text for the models of results.
func modelsOf(results []translate.Result) string {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	var seen tally
	for _, r := range results {
		seen.add(r)
	}
	seen.log(c)
	for _, attr := range LogAttrs(c) {
		if attr.Key == modelKey {
			return fmt.Sprintf("[%s]", attr)
		}
	}
	return ""
}
