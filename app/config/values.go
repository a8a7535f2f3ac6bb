package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
)

// Switch is a boolean that also accepts the words of Hugging Face's tools: 1, true, yes, on and their opposites, in any case.
type Switch bool

// UnmarshalText parses a switch.
func (s *Switch) UnmarshalText(text []byte) error {
	switch strings.ToLower(strings.TrimSpace(string(text))) {
	case "1", "true", "yes", "on":
		*s = true
	case "0", "false", "no", "off":
		*s = false
	default:
		return errors.New("use true or false")
	}
	return nil
}

// Choice is a [Switch] that may also be left to the program.
type Choice string

// The choices.
const (
	Automatic Choice = "auto"
	Yes       Choice = "true"
	No        Choice = "false"
)

// UnmarshalText parses a choice.
func (c *Choice) UnmarshalText(text []byte) error {
	var s Switch
	switch err := s.UnmarshalText(text); {
	case strings.EqualFold(strings.TrimSpace(string(text)), string(Automatic)):
		*c = Automatic
	case err != nil:
		return errors.New("use auto, true or false")
	case bool(s):
		*c = Yes
	default:
		*c = No
	}
	return nil
}

// Size is a number of bytes, with or without a unit: 1000000, 64MiB, 64Mi, 1.5 GB; MiB and Mi are 1<<20 bytes, MB and M are a
// million.
type Size int64

// UnmarshalText parses a size, which is at most 1<<62.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	if n > 1<<62 {
		return fmt.Errorf("%d bytes is too large", n)
	}
	*s = Size(n)
	return nil
}
