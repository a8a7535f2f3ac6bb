package markup

import "strings"

// rootedPath returns the length of a path that starts with / ~/ ./ or ../ here.
// One in the root directory, such as /etc, is none: "and /or" looks the same.
func (s *scanner) rootedPath() int {
	if r := s.before(); isWord(r) || r == '/' || r == '.' || r == ':' || r == '<' {
		return 0
	}
	start := 1
	switch rest := s.text[s.pos:]; {
	case strings.HasPrefix(rest, "../"):
		start = 3
	case strings.HasPrefix(rest, "./"), strings.HasPrefix(rest, "~/"):
		start = 2
	case rest[0] != '/':
		return 0
	}
	if c := s.at(start); !isIdent(c) && c != '.' {
		return 0
	}
	end := s.pathEnd(s.pos+start, false)
	if start == 1 && !strings.Contains(s.text[s.pos+1:end], "/") {
		return 0
	}
	return end - s.pos
}

// path returns the length of C:\Windows or src/main.go, which start with a letter
// or digit.
func (s *scanner) path() int {
	if isASCIILetter(s.at(0)) && s.at(1) == ':' && s.at(2) == '\\' {
		return s.pathEnd(s.pos+3, true) - s.pos
	}
	if s.pos < s.noPath {
		return 0
	}
	end := s.pathRun()
	path := s.text[s.pos:end]
	slash, dot := strings.LastIndexByte(path, '/'), strings.LastIndexByte(path, '.')
	if slash < 0 || dot < slash+2 || !isExtension(path[dot+1:]) || isDomain(path[:strings.IndexByte(path, '/')]) {
		s.noPath = end
		return 0
	}
	return end - s.pos
}

// isExtension says whether text may be the ending of a file's name.
func isExtension(text string) bool {
	if text == "" || len(text) > 5 || !isASCIILower(text[0]) {
		return false
	}
	for _, c := range []byte(text) {
		if !isASCIILower(c) && !isASCIIDigit(c) {
			return false
		}
	}
	return true
}

// pathEnd returns where the path that goes on at i ends, without the punctuation
// of the sentence.
func (s *scanner) pathEnd(i int, backslashes bool) int {
	end := i
	for end < len(s.text) {
		r, n := decode(s.text, end)
		if !isWord(r) && (r >= 0x80 || !oneOf(byte(r), "/._-+~@%=#$") && (r != '\\' || !backslashes)) {
			break
		}
		end += n
	}
	return i + len(strings.TrimRight(s.text[i:end], ".-+@%=#$~_"))
}

// pathRun returns where the run of characters ends that a path starting here would be
// made of. It is the same for all places in the run.
func (s *scanner) pathRun() int {
	if s.pos >= s.runEnd {
		s.runEnd = s.pathEnd(s.pos, false)
	}
	return s.runEnd
}

// fileName returns the length of a file's name with an ending that is common.
func (s *scanner) fileName() int {
	if s.pos < s.noFile {
		return 0
	}
	name := s.text[s.pos:s.pathRun()]
	if slash := strings.IndexByte(name, '/'); slash >= 0 {
		name = name[:slash]
	}
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || !isEnding(name[dot+1:]) || !hasLetter(name[:dot]) {
		s.noFile = s.pos + len(name)
		return 0
	}
	return len(name)
}

// isEnding says whether text is the common ending of a file's name, in lower case or
// in capitals: "End.So" is two sentences.
func isEnding(text string) bool {
	lower := strings.ToLower(text)
	return endings[lower] && (text == lower || len(text) > 2 && text == strings.ToUpper(text))
}

// endings are the ones by which a word with a dot is known as a file's name. A
// table of constants: it is never changed.
var endings = set(`7z apk avi bak bat bin bmp cfg cmd conf cpp cs css csv db deb dll dmg doc docx env epub
	exe gif go gz heic hpp htm html ico ini ipynb iso jar java jpeg jpg js json jsx kt lua mkv mov mp3 mp4
	mpeg odp ods odt ogg otf pcap pdf pem php png ppt pptx ps1 psd py rar rb rpm rs rtf sh sql svg swift
	tar tex tgz tif tiff toml ts tsv tsx ttf txt vue wasm wav webm webp wmv woff woff2 xls xlsx xml yaml
	yml zip`)
