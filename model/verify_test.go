package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

func TestParseVerify(t *testing.T) {
	for _, v := range []model.Verify{model.VerifyChanged, model.VerifyAlways, model.VerifyNever} {
		got, err := model.ParseVerify(string(v))
		require.NoError(t, err)
		assert.Equal(t, v, got)
	}
	for _, s := range []string{"", "Always", "sometimes"} {
		_, err := model.ParseVerify(s)
		assert.ErrorContains(t, err, "use changed, always or never")
	}
}
