package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// pair is a text with the translation that a person made.
type pair struct {
	from, to, source, translation string
	corpus                        string // "catalogs" or "sentences"
	file                          string // the name of the catalog or file
}

// locales are the folders of catalogs for each language.
var locales = map[string]string{"fr": "fr", "de": "de", "ja": "ja", "zh_CN": "zh", "es": "es", "ru": "ru"}

// readCatalogs returns the pairs of all catalogs that [fetch.sh] put into a folder.
func readCatalogs(folder string) (pairs []pair, err error) {
	for _, locale := range slices.Sorted(maps.Keys(locales)) {
		paths, err := filepath.Glob(filepath.Join(folder, "*/usr/share/locale", locale, "LC_MESSAGES/*.mo"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			file, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			found, err := readMO(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			for _, m := range found {
				name := strings.TrimSuffix(filepath.Base(path), ".mo")
				pairs = append(pairs, pair{from: "en", to: locales[locale], source: m[0], translation: m[1], corpus: "catalogs", file: name})
			}
		}
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("%s has no catalogs: run scripts/pairs/fetch.sh", folder)
	}
	return pairs, nil
}

var errMO = errors.New("this is not a catalog of gettext")

// readMO returns the messages of a compiled catalog of gettext with their translations: of messages with plurals the last form.
// The header is left out, and so is a catalog that is not in UTF-8.
func readMO(file []byte) (messages [][2]string, err error) {
	const magic, header = 0x950412de, 20
	if len(file) < header || binary.LittleEndian.Uint32(file) != magic {
		return nil, errMO
	}
	word := func(at int) int {
		if at < 0 || at+4 > len(file) {
			err = errMO
			return 0
		}
		return int(binary.LittleEndian.Uint32(file[at:]))
	}
	text := func(entry int) []string { // the forms of a message
		length, start := word(entry), word(entry+4)
		if err != nil || start+length > len(file) {
			err = errMO
			return []string{""}
		}
		return strings.Split(string(file[start:start+length]), "\x00")
	}
	count, sources, targets := word(8), word(12), word(16)
	for i := 0; i < count && err == nil; i++ {
		source, translation := text(sources+8*i), text(targets+8*i)
		first, last := source[0], source[len(source)-1]
		if first == "" {
			if header := strings.ToLower(translation[0]); !strings.Contains(header, "charset=utf-8") {
				return nil, err
			}
			continue
		}
		if _, withoutContext, ok := strings.Cut(last, "\x04"); ok {
			last = withoutContext
		}
		messages = append(messages, [2]string{last, translation[len(translation)-1]})
	}
	return messages, err
}

// readSentences returns the pairs of files of lines: source language, target language, source, translation, between tabs.
func readSentences(folder string) (pairs []pair, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.tsv"))
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(file)) {
			if f := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(f) == 4 {
				pairs = append(pairs, pair{f[0], f[1], f[2], f[3], "sentences", filepath.Base(path)})
			}
		}
	}
	return pairs, err
}

var (
	// mnemonic matches keys of menus, which catalogs of Asian languages append in brackets.
	mnemonic = regexp.MustCompile(`(?:^|[^\w&])_[A-Za-z]|[A-Za-z]_[A-Za-z]\w*(?:$|[ .:…])|&&|&[A-Za-z]\w*(?:[^\w;]|$)|[(（][&_][A-Za-z0-9][)）]`)
	// qualified matches texts that begin with a remark for translators, and lists of fields.
	qualified = regexp.MustCompile(`^\?\w+:|[^\s|]\|`)
	letters   = regexp.MustCompile(`\p{L}{2}`)
)

// usable returns the different pairs that are translations of prose, in the order of the list: not those with mnemonics or
// qualifiers of programs, and not texts that were left as they are.
func usable(pairs []pair) (kept []pair) {
	seen := map[[3]string]bool{}
	for _, p := range pairs {
		key := [3]string{p.to, p.source, p.translation}
		switch {
		case seen[key], p.translation == "", p.source == p.translation, !letters.MatchString(p.source),
			!utf8.ValidString(p.source), !utf8.ValidString(p.translation), p.corpus == "catalogs" &&
				(mnemonic.MatchString(p.source) || mnemonic.MatchString(p.translation) || qualified.MatchString(p.source)):
			continue
		}
		seen[key] = true
		kept = append(kept, p)
	}
	return kept
}
