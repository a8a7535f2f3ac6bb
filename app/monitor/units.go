package monitor

import (
	"fmt"
	"math"
	"strings"

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

// span formats seconds with three digits at most: 350µs, 81ms, 1.24s, 12.4s, 31m.
func span(seconds float64) string {
	switch {
	case math.IsNaN(seconds):
		return unknown
	case seconds == 0:
		return "0"
	case seconds < .9995e-3:
		return fmt.Sprintf("%.0fµs", seconds*1e6)
	case seconds < 9.95e-3:
		return fmt.Sprintf("%.1fms", seconds*1e3)
	case seconds < .9995:
		return fmt.Sprintf("%.0fms", seconds*1e3)
	case seconds < 9.995:
		return fmt.Sprintf("%.2fs", seconds)
	case seconds < 99.95:
		return fmt.Sprintf("%.1fs", seconds)
	case seconds < 999.5:
		return fmt.Sprintf("%.0fs", seconds)
	}
	return whole(seconds/60) + "m"
}

// size formats bytes.
func size(bytes float64) string {
	if math.IsNaN(bytes) {
		return unknown
	}
	return strings.ReplaceAll(humanize.IBytes(uint64(min(bytes, 1<<60))), " ", "")
}

// blocks are the characters of sparklines and bars, by height.
var blocks = []rune("▁▂▃▄▅▆▇█")

// sparkline draws the latest values, as many as there is width, over the greatest of
// them, and over full at least. What is not known is left out.
func sparkline(values []float64, width int, full float64) string {
	if width <= 0 {
		return ""
	}
	values = values[max(0, len(values)-width):]
	greatest := full
	for _, v := range values {
		if v > greatest && !math.IsInf(v, 1) {
			greatest = v
		}
	}
	line := []rune(strings.Repeat(" ", width-len(values)))
	for _, v := range values {
		r := ' '
		switch {
		case math.IsNaN(v) || math.IsInf(v, 1):
		case !(v > 0):
			r = blocks[0]
		default:
			r = blocks[max(1, int(math.Ceil(v/greatest*float64(len(blocks)))))-1]
		}
		line = append(line, r)
	}
	return string(line)
}

// bar draws a part of 1 as a bar of at most width characters.
func bar(part float64, width int) string {
	if !(part > 0) || width <= 0 {
		return ""
	}
	return strings.Repeat("█", max(1, int(math.Round(min(part, 1)*float64(width)))))
}
