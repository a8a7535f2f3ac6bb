package libretranslate

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/fault"
)

// Every kind of failure has a status of an error, and one for another try exactly where that helps.
func TestStatuses(t *testing.T) {
	for kind := range fault.ClientGone + 1 {
		f := fault.New(kind, "", "")
		status, _ := render(nil, f)
		assert.True(t, status >= 400 && status < 600, "%d: %d", kind, status)
		if f.Wait > 0 {
			assert.Contains(t, []int{429, 503}, status, f.Code())
		}
	}
}
