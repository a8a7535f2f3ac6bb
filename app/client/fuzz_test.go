package client

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// FuzzStream reads streams of arbitrary bytes. Results are delivered only for records of the request, each at most once, and the
// end is reported only after all records. The split of the bytes into reads makes no difference.
func FuzzStream(f *testing.F) {
	const (
		a    = `{"result":{"id":"a","text":"A","toLang":"fr"}}` + "\n"
		b    = `{"result":{"id":"b","text":"B","toLang":"fr"}}` + "\n"
		done = `{"done":{"results":2}}` + "\n"
	)
	for _, seed := range []string{
		"", "\n", a, a + b, a + b + done, b + a + done, a + a + done, a + done, a + b + done[:9], a[:20], "{}\n" + a + b + done,
		a + `{"error":{"code":"internal","message":"no"}}` + "\n", `{"error":null}` + "\n", "null\n", "[]\n", "{\n}\n", "\x00\n",
		`{"result":{"id":"a","text":"\ud800","toLang":"fr"}}` + "\n", `{"result":{"id":"a","text":"A","toLang":"fr","detail":{"queueMs":1e999}}}` + "\n",
		strings.Repeat(" ", 5000) + "\n", strings.Repeat("[", 20_000) + "\n", a + b + `{"done":{"results":2}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		results, err := readAll(t, strings.NewReader(string(data)))
		again, err2 := readAll(t, iotest.OneByteReader(strings.NewReader(string(data))))
		if len(again) != len(results) || err.Error() != err2.Error() {
			t.Fatalf("%d results and %v at once, %d and %v byte by byte", len(results), err, len(again), err2)
		}
	})
}

// readAll reads a stream for the records a and b until its end or an error.
func readAll(t *testing.T, in io.Reader) ([]Result, error) {
	const most = 16 << 10
	q, err := newQuery(streamPath, ndjsonType, Request{ID: "1", ToLangs: []string{"fr"}, Records: []Record{{ID: "a"}, {ID: "b"}}}, "")
	if err != nil {
		t.Fatal(err)
	}
	s := newReader(q, in, most)
	var results []Result
	for {
		r, err := s.next()
		if got := cap(s.lines.Bytes()); got > 4*most {
			t.Fatalf("a line takes %d bytes of memory", got)
		}
		if err == nil {
			results = append(results, r)
			if r.To != "fr" || r.ID != "a" && r.ID != "b" || len(results) > 2 || len(results) == 2 && results[0].ID == results[1].ID {
				t.Fatalf("results %v", results)
			}
			continue
		}
		_, told := errors.AsType[*Error](err)
		switch {
		case err == io.EOF && len(results) == 2, told, errors.Is(err, ErrInvalidAnswer), errors.Is(err, io.ErrUnexpectedEOF):
			return results, err
		}
		t.Fatalf("%d results and %v", len(results), err)
	}
}

// FuzzAnswer reads answers of arbitrary bytes: accepted results belong to the request.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `{"result":[{"id":"a","text":"A"},{"id":"b","text":"B"}]}`, `{"result":[{"id":"a","text":"A"}]}`,
		`{"result":[{"id":"b","text":"A"},{"id":"a","text":"B"}]}`, `{"result":[null,null]}`,
		`{"result":[{"id":"a","text":"A","detail":{"flags":["loop"],"queueMs":-1e300}},{"id":"b","text":"B","detail":null}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := newQuery(translationPath, jsonType, Request{To: "fr", Records: []Record{{ID: "a"}, {ID: "b"}}}, "")
		if err != nil {
			t.Fatal(err)
		}
		results, err := q.results(data)
		switch {
		case err != nil && (results != nil || !errors.Is(err, ErrInvalidAnswer)):
			t.Fatalf("%v and %v", results, err)
		case err == nil && (len(results) != 2 || results[0].ID != "a" || results[1].ID != "b"):
			t.Fatalf("%v", results)
		}
	})
}

// FuzzRetryAfter reads headers of arbitrary text.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""}, {"5", ""}, {"-5", ""}, {"1e3", ""}, {"99999999999999999999", ""}, {"Sat, 21 Nov 2026 12:00:30 GMT", ""},
		{"Sat, 21 Nov 2026 12:00:30 GMT", "Sat, 21 Nov 2026 12:00:00 GMT"}, {"Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		h := http.Header{"Retry-After": {value}, "Date": {date}}
		d := retryAfter(h, time.Unix(0, 0))
		if d < 0 {
			t.Fatalf("%q at %q is %s", value, date, d)
		}
		if n, err := strconv.ParseUint(value, 10, 32); err == nil && d != time.Duration(n)*time.Second {
			t.Fatalf("%q is %s", value, d)
		}
	})
}

// FuzzJob reads arbitrary answers about a job: accepted answers are about this job, and it ends.
func FuzzJob(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `{"job":null}`, `{"job":{"id":"a","state":"done"},"result":[{"id":"a","text":"A","toLang":"fr"}]}`,
		`{"job":{"id":"b","state":"done"},"result":[]}`, `{"job":{"id":"a","state":"failed","error":{"code":"x"}},"result":[]}`,
		`{"job":{"id":"a","state":"done","created":"now"},"result":[]}`, `{"job":{"id":"a","state":"done"},"result":[null]}`,
		`{"job":{"id":"a","state":"new","progress":{"records":-1},"finished":"0000-01-01T00:00:00Z","error":null},"result":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		j := &Job{id: "a"}
		answer, err := j.read(data)
		status := answer.Job.status()
		if err == nil && (status.ID != "a" || status.State == "" || status.State == JobFailed && status.Err == nil) {
			t.Fatalf("%+v", status)
		}
		results, err := j.results(data)
		switch {
		case err != nil && (results != nil || !errors.Is(err, ErrInvalidAnswer)):
			t.Fatalf("%v and %v", results, err)
		case err == nil && (results == nil || status.State != JobDone):
			t.Fatalf("%v of %+v", results, status)
		}
	})
}
