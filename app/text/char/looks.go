package char

import (
	"context"
	"io"
	"regexp"
	"unicode/utf8"
)

// Looks counts the bytes that a work goes through, and looks at the work's context every few thousand of them. nil never
// looks. One goroutine uses it.
type Looks struct {
	ctx  context.Context
	left int   // bytes before the next look
	err  error // the context's, once the work is being unwound
}

// BetweenLooks are the most bytes between two looks, but for what a single step goes through.
const BetweenLooks = 4 << 10

// Look does a work that goes through so many bytes, math.MaxInt where that is not known, and counts them. It returns ctx's
// error where ctx ends before the work does: the work is unwound by a panic, which Look recovers, and what it made is not to be
// used. A short work need not look again.
func Look(ctx context.Context, bytes int, work func(l *Looks)) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if bytes <= BetweenLooks {
		work(nil)
		return nil
	}
	l := &Looks{ctx: ctx, left: BetweenLooks}
	defer func() {
		if caught := recover(); caught == any(l) && caught != nil {
			err = l.err
		} else if caught != nil {
			panic(caught)
		}
	}()
	work(l)
	return nil
}

// Past counts n bytes. It unwinds the work where its context has ended.
func (l *Looks) Past(n int) {
	if l == nil {
		return
	}
	if l.left -= n; l.left <= 0 {
		l.look()
	}
}

// Check unwinds the work with an error that its context has caused, such as that of a function which looks at it too.
func (l *Looks) Check(err error) {
	if l != nil && err != nil {
		l.err = err
		panic(l)
	}
}

func (l *Looks) look() {
	l.left = BetweenLooks
	l.Check(l.ctx.Err())
}

// Context is the one that is looked at.
func (l *Looks) Context() context.Context {
	if l == nil {
		return context.Background()
	}
	return l.ctx
}

// Match is re.MatchString, and looks at the context while it goes through the text.
func (l *Looks) Match(re *regexp.Regexp, text string) bool {
	if l == nil || len(text) <= BetweenLooks {
		l.Past(len(text))
		return re.MatchString(text)
	}
	return re.MatchReader(&reader{l, text})
}

// Find is re.FindStringSubmatchIndex, and looks at the context while it goes through the text.
func (l *Looks) Find(re *regexp.Regexp, text string) []int {
	if l == nil || len(text) <= BetweenLooks {
		l.Past(len(text))
		return re.FindStringSubmatchIndex(text)
	}
	return re.FindReaderSubmatchIndex(&reader{l, text})
}

// FindAll is re.FindAllStringSubmatchIndex, and looks at the context while it goes through the text. The expression matches no empty text, and asks for nothing that stands before a match.
func (l *Looks) FindAll(re *regexp.Regexp, text string) (all [][]int) {
	if l == nil || len(text) <= BetweenLooks {
		l.Past(len(text))
		return re.FindAllStringSubmatchIndex(text, -1)
	}
	for at := 0; ; at = all[len(all)-1][1] {
		found := l.Find(re, text[at:])
		if found == nil {
			return all
		}
		for i := range found {
			if found[i] >= 0 {
				found[i] += at
			}
		}
		all = append(all, found)
	}
}

// reader reads a text by its characters for a regular expression.
type reader struct {
	looks *Looks
	rest  string
}

// ReadRune implements [io.RuneReader].
func (r *reader) ReadRune() (rune, int, error) {
	if r.rest == "" {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRuneInString(r.rest)
	r.rest = r.rest[n:]
	r.looks.Past(n)
	return c, n, nil
}

// Reader reads from in, and looks at the context as it does.
func (l *Looks) Reader(in io.Reader) io.Reader { return lookingReader{l, in} }

type lookingReader struct {
	looks *Looks
	in    io.Reader
}

// Read implements [io.Reader].
func (r lookingReader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	r.looks.Past(n)
	return n, err
}
