// Package example has functions whose work grows in ways that are known.
package example

import (
	"slices"
	"strings"
	"unicode/utf8"
)

var linear = map[string]func(string){
	"loop": func(text string) {
		for len(text) > 0 {
			_, n := utf8.DecodeRuneInString(text)
			text = text[n:]
		}
	},
	"search that stops": func(text string) {
		for i := range text {
			_ = strings.IndexByte(text[i:], text[0])
			_ = strings.HasPrefix(text[i:], "b")
		}
	},
	"n log n": func(text string) {
		for n := len(text); n > 0; n /= 2 {
			for range text {
				_ = n
			}
		}
	},
}

var quadratic = map[string]func(string){
	"loop in a loop": func(text string) {
		for i := range text {
			for range text[i:] {
				_ = i
			}
		}
	},
	"recursion": recursion,
	"search for what is not there": func(text string) {
		for i := range text {
			_ = strings.Index(text[i:], "<!")
		}
	},
	"search from the end": func(text string) {
		for i := range text {
			_ = strings.LastIndexByte(text[:i], '<')
		}
	},
	"trimming": func(text string) {
		for i := range text {
			_ = strings.TrimLeft(text[i:], "a")
		}
	},
	"another function of the standard library": func(text string) {
		for i := range text {
			_ = strings.Contains(text[i:], "<")
		}
	},
	"method": func(text string) {
		for i := range text {
			_ = replacer.Replace(text[i:])
		}
	},
	"generic function": func(text string) {
		list := []byte(text)
		for i := range list {
			_ = slices.Contains(list[i:], '<')
		}
	},
	"concatenation": func(text string) {
		var out string
		for range text {
			out = out + "a"
		}
	},
	"concatenation by assignment": func(text string) {
		var out string
		for range text {
			out += "a"
		}
	},
	"conversion": func(text string) {
		for i := range text {
			_ = []byte(text[i:])
		}
	},
	"append": func(text string) {
		for i := range text {
			_ = append([]byte(nil), text[i:]...)
		}
	},
	"copy": func(text string) {
		list := make([]byte, len(text))
		for i := range text {
			copy(list, text[i:])
		}
	},
}

func recursion(text string) {
	if text == "" {
		return
	}
	for range text {
		_ = text
	}
	recursion(text[1:])
}

var replacer = strings.NewReplacer("a", "b")
