package spelling

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNear(t *testing.T) {
	names := []string{"wait", "list", "format", "force", "NUM_BEAMS", "APP_PORT", "APP_HOST", "GLOSSARY_FILE"}
	for word, want := range map[string][]string{
		"wiat": {"wait"}, "lst": {"list"}, "forma": {"format"}, "for": nil, "wait": nil, "xxxx": nil, "": nil,
		"NUM_BEAM": {"NUM_BEAMS"}, "APP_PRT": {"APP_PORT"}, "APP_PROT": {"APP_PORT"}, "APP_POST": {"APP_PORT", "APP_HOST"}, "app_port": {"APP_PORT"}, "APP_ROOT": nil,
		"GLOSARY_FLIE": {"GLOSSARY_FILE"}, "HOST": nil, "PORT": nil, "NUMBEAMS": {"NUM_BEAMS"}, "NUMBEAM": nil,
	} {
		assert.Equal(t, want, Near(word, names), word)
	}
}
