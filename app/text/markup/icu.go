package markup

import (
	"context"
	"regexp"
	"strings"

	"dragoman/app/text/char"
)

// Message is an argument of ICU's or Java's MessageFormat that contains text: one branch for each plural form, gender, range or
// other choice. In its sentence it is one span.
type Message struct {
	Start, End int      // in bytes of the text
	Branches   [][2]int // byte ranges of the branches in the text; the text between them stays as it is
}

// Messages returns the messages among the spans of a sentence. Branches are texts of their own, which may contain messages again.
func (s Sentence) Messages() []Message {
	var list []Message
	for i, span := range s.Spans {
		if span.Kind != Placeholder {
			continue
		}
		if branches := branchesOf(s.spanText(i)); len(branches) > 0 {
			for k := range branches {
				branches[k][0] += span.Start
				branches[k][1] += span.Start
			}
			list = append(list, Message{Start: span.Start, End: span.End, Branches: branches})
		}
	}
	return list
}

// Branch returns the text of a message's branch, bytes [start, end), as a sentence. In it # stands for the number.
func (s Sentence) Branch(ctx context.Context, start, end int) (Sentence, error) {
	return s.within(ctx, len(s.Text), func(s Sentence) Sentence {
		return parse(scanner{text: s.Text[start:end], form: s.format, branch: true, looks: s.looks})
	})
}

// complexMessage matches the start of {count, plural, offset:1 one {…} other {…}}.
var complexMessage = regexp.MustCompile(`^\{\s*[\pL\pN_.]+\s*,\s*(?:plural|select|selectordinal)\s*,(?:\s*offset:\d+)?`)

func startsMessage(text string) bool {
	return complexMessage.MatchString(text) || choiceMessage.MatchString(text)
}

// branchesOf returns the ranges of the branches of a message, or nil if the text is none.
func branchesOf(text string) [][2]int {
	if start := complexMessage.FindString(text); start != "" {
		return branches(text, len(start))
	}
	if start := choiceMessage.FindString(text); start != "" {
		return ranges(text, len(start))
	}
	return nil
}

// choiceMessage matches the start of {0,choice,0#no files|1#one file|1<{0} files}, and rangeLimit that of one of its branches.
var (
	choiceMessage = regexp.MustCompile(`^\{\s*[\pL\pN_.]+\s*,\s*choice\s*,`)
	rangeLimit    = regexp.MustCompile(`^\s*-?(?:[\d.]+|∞)\s*(?:#|≤|<|&lt;)`)
)

// ranges returns the branches of a choice, which starts at byte i, or nil if one has no limit.
func ranges(text string, i int) (list [][2]int) {
	depth := 0
	start := i
	for ; i < len(text); i++ { // the last byte closes the message
		switch c := text[i]; {
		case c == '{':
			depth++
		case c == '|' && depth == 0, i == len(text)-1:
			limit := rangeLimit.FindString(text[start:i])
			if limit == "" {
				return nil
			}
			list = append(list, [2]int{start + len(limit), i})
			start = i + 1
		case c == '}':
			depth--
		}
	}
	return list
}

// branches returns the ranges inside the first-level braces of text from byte i on, or nil if anything other than branch names
// stands between them.
func branches(text string, i int) [][2]int {
	var list [][2]int
	depth, start, name := 0, 0, i
	for ; i < len(text)-1; i++ { // the last byte closes the message
		switch text[i] {
		case '{':
			if depth++; depth == 1 {
				start = i + 1
				if !isBranchName(strings.TrimSpace(text[name:i])) {
					return nil
				}
			}
		case '}':
			if depth--; depth == 0 {
				list = append(list, [2]int{start, i})
				name = i + 1
			}
		}
	}
	if depth != 0 || strings.TrimSpace(text[name:len(text)-1]) != "" {
		return nil
	}
	return list
}

func isBranchName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !char.IsIdent(c) && c < 0x80 && c != '-' && (c != '=' || i > 0) {
			return false
		}
	}
	return name != ""
}
