package failure

import (
	"log/slog"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/client"
	"dragoman/app/openapi"
	"dragoman/app/telemetry"
	"dragoman/app/translate"
)

// codes are those of all failures.
func codes() []string { return column(func(r row) string { return string(r.code) }) }

func TestTableIsWhole(t *testing.T) {
	require.Len(t, table, int(ClientGone)+1)
	for kind, r := range table {
		assert.Equal(t, Kind(kind) == ClientGone, r.code == "", kind)
		for _, status := range []int{r.native, r.libreTranslate, r.deepL, r.openInference} {
			assert.True(t, status >= 400 && status < 600, "%d: %d", kind, status)
			assert.True(t, r.wait == 0 || status == 429 || status == 456 || status == 503 || status == 529, "%s: another try helps, but not after %d", r.code, status)
		}
	}
	for _, code := range []translate.Code{
		translate.CodeUnknownModel, translate.CodeUnknownLanguage, translate.CodeTooManyRecords, translate.CodeInvalidText, translate.CodeInvalidOption,
		translate.CodeTextTooLong, translate.CodeTooManySentences, translate.CodeTooManyTokens, translate.CodeUnfinished,
	} {
		assert.Equal(t, code, table[kindOf(code)].code)
	}
}

// Failures count as errors by code, and some as refusals or as ends.
func TestCount(t *testing.T) {
	for kind, want := range map[Kind][]string{
		InvalidJSON: {`errors_total{code="invalid_json"}`}, NotOffered: {`errors_total{code="invalid_value"}`},
		Busy:        {`errors_total{code="busy"}`, `refusals_total{reason="queue_full"}`},
		NoTime:      {`errors_total{code="busy"}`, `refusals_total{reason="deadline"}`},
		Loading:     {`errors_total{code="not_ready"}`, `refusals_total{reason="loading"}`},
		ModelBroken: {`errors_total{code="model_broken"}`, `refusals_total{reason="not_ready"}`},
		NoRoom:      {`errors_total{code="model_too_large"}`, `refusals_total{reason="not_ready"}`},
		Interrupted: {`cancellations_total{cause="shutdown"}`, `errors_total{code="shutting_down"}`, `refusals_total{reason="shutting_down"}`},
		Timeout:     {`cancellations_total{cause="timeout"}`, `errors_total{code="timeout"}`},
		ClientGone:  {`cancellations_total{cause="client_gone"}`},
	} {
		m := telemetry.New(slog.New(slog.DiscardHandler))
		NewMetrics(m.Registry()).Count(New(kind, "", ""))
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		var counted []string
		for _, found := range regexp.MustCompile(`(?m)^dragoman_((?:errors|refusals|cancellations)_total.*) 1$`).FindAllStringSubmatch(w.Body.String(), -1) {
			counted = append(counted, found[1])
		}
		assert.Equal(t, want, counted)
	}
}

// The client has constants for all codes, and no others, and tries again where it helps.
func TestClient(t *testing.T) {
	assert.ElementsMatch(t, codes(), []string{
		client.CodeInvalidJSON, client.CodeUnknownField, client.CodeDuplicateField, client.CodeMissingField, client.CodeWrongType,
		client.CodeInvalidValue, client.CodeInvalidOption, client.CodeInvalidText, client.CodeInvalidHeader, client.CodeUnknownLanguage, client.CodeUnsupportedSource, client.CodeUnknownModel,
		client.CodeTextTooLong, client.CodeUnauthorized, client.CodeNotFound, client.CodeTurnedOff, client.CodeMethodNotAllowed, client.CodeBodyTimeout,
		client.CodeBodyTooLarge, client.CodeTooManyRecords, client.CodeTooManySentences, client.CodeTooManyTokens,
		client.CodeTooManyCharacters, client.CodeTooLarge, client.CodeUnsupportedMedia, client.CodeUnfinished, client.CodeRateLimited,
		client.CodeInternal, client.CodeBusy, client.CodeNotReady, client.CodeModelBroken, client.CodeModelTooLarge, client.CodeStuck, client.CodeModelCrashed, client.CodeBrokerUnavailable, client.CodeShuttingDown, client.CodeTimeout,
		client.CodeUnknownJob, client.CodeJobLost, client.CodeIdempotencyMismatch, client.CodeTooManyJobs, client.CodeJobsUnavailable,
		client.CodeUnknownGlossary, client.CodeInvalidGlossary, client.CodeNoDictionary, client.CodeTooManyGlossaries, client.CodeGlossariesUnavailable,
		client.CodeUnsupportedDocument, client.CodeInvalidDocument, client.CodeNotDone,
		client.CodeUnknownSession, client.CodeInvalidEdit, client.CodeEditGap, client.CodeSessionComplete, client.CodeTooManySessions,
	})
	for _, r := range table {
		inStream, answered := &client.Error{Code: string(r.code)}, &client.Error{Code: string(r.code), Status: r.native}
		assert.Equal(t, r.wait > 0, inStream.Temporary(), r.code)
		assert.Equal(t, r.wait > 0, answered.Temporary(), r.code)
	}
}

// The document lists all codes.
func TestDocument(t *testing.T) {
	description, err := openapi.New(openapi.Config{})
	require.NoError(t, err)
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	description.Register(router, nil)
	w := httptest.NewRecorder()
	router.ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
	var document struct {
		Components struct {
			Schemas struct{ ErrorCode struct{ Enum []string } }
		}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &document, json.MatchCaseInsensitiveNames(true)))
	assert.ElementsMatch(t, codes(), document.Components.Schemas.ErrorCode.Enum)
}
