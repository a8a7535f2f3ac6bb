package char

import (
	"context"
	"io"
	"regexp"
	"unicode/utf8"
)

// Looks counts the bytes that work goes through, and checks the work's context every few thousand bytes. A nil Looks never
// checks. It is not safe for concurrent use.
type Looks struct {
	ctx  context.Context
	left int   // bytes before the next check
	err  error // with which the work is unwound
}

// BetweenLooks is the maximum number of bytes between two checks, except within a single step.
const BetweenLooks = 4 << 10

// Look runs work, which goes through the given number of bytes, or math.MaxInt if that is unknown. It returns ctx's error if ctx
// ends first, and the error that [Looks.Check] gets: the work is then unwound by a panic, which Look recovers, and its results are
// invalid. Short work is not checked again.
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

// Past counts n bytes. It unwinds the work if its context has ended.
func (l *Looks) Past(n int) {
	if l == nil {
		return
	}
	if l.left -= n; l.left <= 0 {
		l.look()
	}
}

// Check unwinds the work with an error, if there is one: of a function that checks the same context, or another one that ends the
// work.
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

// Context returns the context that is checked.
func (l *Looks) Context() context.Context {
	if l == nil {
		return context.Background()
	}
	return l.ctx
}

// Match is re.MatchString with checks of the context.
func (l *Looks) Match(re *regexp.Regexp, text string) bool {
	if l == nil || len(text) <= BetweenLooks {
		l.Past(len(text))
		return re.MatchString(text)
	}
	return re.MatchReader(&reader{l, text})
}

// Find is re.FindStringSubmatchIndex with checks of the context.
func (l *Looks) Find(re *regexp.Regexp, text string) []int {
	if l == nil || len(text) <= BetweenLooks {
		l.Past(len(text))
		return re.FindStringSubmatchIndex(text)
	}
	return re.FindReaderSubmatchIndex(&reader{l, text})
}

// FindAll is re.FindAllStringSubmatchIndex with checks of the context. The expression must not match empty text, nor depend on
// text before a match.
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

// reader reads a text by characters for a regular expression.
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

// Reader reads from in with checks of the context.
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
