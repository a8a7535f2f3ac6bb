package libretranslate

import (
	"testing"

	"dragoman/app/api/dropin/compattest"
)

func TestStatuses(t *testing.T) { compattest.CheckStatuses(t, render, 429, 503) }
