package fault_test

import (
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/openapi"
	"dragoman/app/client"
	"dragoman/app/fault"
)

func TestTableIsWhole(t *testing.T) {
	for kind := range fault.ClientGone + 1 {
		f := fault.New(kind, "", "")
		assert.Equal(t, kind == fault.ClientGone, f.Code() == "", kind)
		status := f.Status()
		assert.True(t, status >= 400 && status < 600, "%d: %d", kind, status)
		assert.True(t, f.Wait == 0 || status == 429 || status == 503, "%s: another try helps, but not after %d", f.Code(), status)
		assert.Equal(t, status, f.StatusOr(nil), kind)
		assert.Equal(t, 418, f.StatusOr(map[fault.Kind]int{kind: 418}), kind)
	}
	assert.Panics(t, func() { _ = fault.New(fault.ClientGone+1, "", "") }, "the table ends with the last kind")
}

// The client has constants for exactly these codes, and retries those that a retry may help.
func TestClient(t *testing.T) {
	assert.ElementsMatch(t, fault.Codes(), []string{
		client.CodeInvalidJSON, client.CodeUnknownField, client.CodeDuplicateField, client.CodeMissingField, client.CodeWrongType,
		client.CodeInvalidValue, client.CodeInvalidOption, client.CodeInvalidText, client.CodeInvalidHeader, client.CodeUnknownLanguage, client.CodeUnsupportedSource, client.CodeUnknownModel,
		client.CodeTextTooLong, client.CodeUnauthorized, client.CodeNotFound, client.CodeTurnedOff, client.CodeMethodNotAllowed, client.CodeBodyTimeout,
		client.CodeBodyTooLarge, client.CodeTooManyRecords, client.CodeTooManySentences, client.CodeTooManyTokens,
		client.CodeTooManyCharacters, client.CodeTooLarge, client.CodeUnsupportedMedia, client.CodeUnfinished, client.CodeRateLimited,
		client.CodeInternal, client.CodeBusy, client.CodeNotReady, client.CodeModelBroken, client.CodeModelTooLarge, client.CodeStuck, client.CodeModelCrashed, client.CodeBrokerUnavailable, client.CodeShuttingDown, client.CodeTimeout,
		client.CodeUnknownJob, client.CodeJobLost, client.CodeIdempotencyMismatch, client.CodeTooManyJobs, client.CodeJobsUnavailable,
		client.CodeUnknownGlossary, client.CodeInvalidGlossary, client.CodeNoDictionary, client.CodeTooManyGlossaries, client.CodeGlossariesUnavailable,
		client.CodeUnknownMemory, client.CodeInvalidMemory, client.CodeMemoryChanged, client.CodeTooManyMemories, client.CodeMemoriesUnavailable,
		client.CodeUnsupportedDocument, client.CodeInvalidDocument, client.CodeNotDone,
		client.CodeUnknownSession, client.CodeInvalidEdit, client.CodeEditGap, client.CodeSessionComplete, client.CodeTooManySessions,
	})
	for kind := range fault.ClientGone + 1 {
		f := fault.New(kind, "", "")
		inStream, answered := &client.Error{Code: f.Code()}, &client.Error{Code: f.Code(), Status: f.Status()}
		assert.Equal(t, f.Wait > 0, inStream.Temporary(), f.Code())
		assert.Equal(t, f.Wait > 0, answered.Temporary(), f.Code())
	}
}

// The API's description lists all codes.
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
	assert.ElementsMatch(t, fault.Codes(), document.Components.Schemas.ErrorCode.Enum)
}
