package inferencepb

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The descriptors are those of the .proto files: a file that was changed needs go generate.
func TestDescriptors(t *testing.T) {
	numbered := regexp.MustCompile(`\w+ = \d+`)
	for name, file := range map[string]protoreflect.FileDescriptor{"infer.proto": File_infer_proto, "inference.proto": Service().ParentFile()} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		var has []string // fields, and values of enums
		var add func(messages protoreflect.MessageDescriptors)
		add = func(messages protoreflect.MessageDescriptors) {
			for i := range messages.Len() {
				m := messages.Get(i)
				for k := range m.Fields().Len() {
					if f := m.Fields().Get(k); !m.IsMapEntry() {
						has = append(has, fmt.Sprintf("%s = %d", f.Name(), f.Number()))
					}
				}
				add(m.Messages())
			}
		}
		add(file.Messages())
		for i := range file.Enums().Len() {
			for k := range file.Enums().Get(i).Values().Len() {
				v := file.Enums().Get(i).Values().Get(k)
				has = append(has, fmt.Sprintf("%s = %d", v.Name(), v.Number()))
			}
		}
		assert.ElementsMatch(t, numbered.FindAllString(string(text), -1), has, name)
	}
	text, err := os.ReadFile("inference.proto")
	require.NoError(t, err)
	methods := regexp.MustCompile(`rpc (\w+)\(`).FindAllStringSubmatch(string(text), -1)
	require.Len(t, methods, Service().Methods().Len())
	for i, m := range methods {
		assert.Equal(t, m[1], string(Service().Methods().Get(i).Name()))
		assert.Equal(t, Path(m[1]), fmt.Sprintf("/%s/%s", Service().FullName(), m[1]))
	}
}
