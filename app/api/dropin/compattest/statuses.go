package compattest

import (
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"

	"dragoman/app/fault"
)

// CheckStatuses checks that an API renders every kind of failure with the status of an error, and with one of again if
// another try helps.
func CheckStatuses(t *testing.T, render func(*gin.Context, *fault.Failure) (status int, answer any), again ...int) {
	t.Helper()
	for kind := range fault.ClientGone + 1 {
		f := fault.New(kind, "", "")
		status, _ := render(nil, f)
		assert.True(t, status >= 400 && status < 600, "%d: %d", kind, status)
		if f.Wait > 0 {
			assert.Contains(t, again, status, f.Code())
		}
	}
}
