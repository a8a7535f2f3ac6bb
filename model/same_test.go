package model_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/model"
)

func TestSameBytes(t *testing.T) {
	section := func(data string, length int64) *io.SectionReader {
		return io.NewSectionReader(strings.NewReader(data), 1, length)
	}
	long := strings.Repeat("a", 3<<20)
	for name, c := range map[string]struct {
		a, b *io.SectionReader
		want bool
		err  error
	}{
		"empty":           {section("", 0), section("x", 0), true, nil},
		"same":            {section("xabc", 3), section("yabcz", 3), true, nil},
		"another length":  {section("xabc", 3), section("xabc", 2), false, nil},
		"another byte":    {section("xabc", 3), section("xabd", 3), false, nil},
		"long":            {section(long, 3<<20-1), section("b"+long, 3<<20-1), true, nil},
		"another at last": {section(long, 3<<20-1), section(long[1:]+"b", 3<<20-1), false, nil},
		"first file cut":  {section("xab", 3), section("xabc", 3), false, io.ErrUnexpectedEOF},
		"other file cut":  {section(long+"a", 3<<20), section(long, 3<<20), false, io.ErrUnexpectedEOF},
		"cut at a block":  {section("x", 3), section("xabc", 3), false, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			same, err := model.SameBytes(c.a, c.b)
			assert.ErrorIs(t, err, c.err)
			assert.Equal(t, c.want, same)
		})
	}
}
