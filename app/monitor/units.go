package monitor

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// unknown stands for a number that is not known.
const unknown = "-"

// rate formats a number that need not be whole: 0.4, 12, 3400, 51k.
func rate(v float64) string {
	if v > 0 && v < 9.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return whole(v)
}

// whole formats a number that is large or whole.
func whole(v float64) string {
	switch {
	case math.IsNaN(v):
		return unknown
	case v < 9999.5:
		return fmt.Sprintf("%.0f", v)
	case v < 999.5e3:
		return fmt.Sprintf("%.0fk", v/1e3)
	case v < 999.5e6:
		return fmt.Sprintf("%.0fM", v/1e6)
	}
	return fmt.Sprintf("%.0e", v)
}

// percent formats a part of 1.
func percent(v float64) string {
	if math.IsNaN(v) {
		return unknown
	}
	return whole(v*100) + "%"
}

// span formats seconds with three digits at most: 350µs, 81.5ms, 1.24s, 31m0s.
func span(seconds float64) string {
	if math.IsNaN(seconds) {
		return unknown
	}
	d, digit := time.Duration(min(seconds, 1e9)*float64(time.Second)), time.Duration(1)
	for d/digit >= 1000 {
		digit *= 10
	}
	return d.Round(digit).String()
}

// size formats bytes.
func size(bytes float64) string {
	if math.IsNaN(bytes) {
		return unknown
	}
	return strings.ReplaceAll(humanize.IBytes(uint64(min(bytes, 1<<60))), " ", "")
}
