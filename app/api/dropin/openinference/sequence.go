package openinference

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	pb "dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/live"
	"dragoman/app/translate"
)

// A sequence is a live text. Each request appends to the text or edits it. The answer is the change of the translation, once all
// of the text so far is translated in its present form. Requests of a sequence are served one after the other.

// Parameters of a sequence's requests and answers.
const (
	sequenceID    = "sequence_id"
	sequenceStart = "sequence_start"
	sequenceEnd   = "sequence_end"
	editAt        = "edit_at"     // the position of an edit, in Unicode code points; missing: the end of the text
	editLength    = "edit_length" // the number of code points that the edit replaces
	wholeText     = "whole"       // answer the whole translation
	keptText      = "kept"        // the number of code points of the previous translation before the answer's text
	flagsOfText   = "flags"       // flags of the translation, separated by commas
)

// sequences are the open sequences. A sequence ends with its session, which accounts for its memory.
type sequences struct {
	mu sync.Mutex // guards by
	by map[sequenceKey]*sequence
}

// sequenceKey identifies a sequence: a caller's id for a model.
type sequenceKey struct{ owner, model, id string }

// sequence is a live session and the state of its client.
type sequence struct {
	session  *live.Session
	from, to string

	mu       sync.Mutex // held by the request in progress; guards the fields below
	edits    int64      // edits sent
	seen     int64      // the revision up to which untranslated is current
	answered string     // the translation at the client

	untranslated map[int64]bool // ids of untranslated sentences
}

// sequenceOf returns the id of a message's sequence, or "".
func sequenceOf(in *pb.ModelInferRequest) string {
	id := in.GetParameters()[sequenceID]
	switch n := id.GetParameterChoice().(type) {
	case *pb.InferParameter_StringParam:
		return n.StringParam
	case *pb.InferParameter_Int64Param:
		return strings.TrimPrefix(strconv.FormatInt(n.Int64Param, 10), "0") // 0 means none
	case *pb.InferParameter_Uint64Param:
		return strings.TrimPrefix(strconv.FormatUint(n.Uint64Param, 10), "0")
	}
	return ""
}

// edit is a request's change of its sequence.
type edit struct {
	text       string
	at, length int64 // at is -1 for the end
	start, end bool
	whole      bool
}

// editOf returns the edit of a message of a sequence.
func editOf(in *pb.ModelInferRequest, req request) (e edit, err error) {
	p := values{of: in.GetParameters()}
	e = edit{at: -1, start: p.flag(sequenceStart), end: p.flag(sequenceEnd), whole: p.flag(wholeText), length: p.number(editLength)}
	if _, ok := in.GetParameters()[editAt]; ok {
		if e.at = p.number(editAt); e.at < 0 && p.err == nil {
			p.err = refuse("%s is %d: places are from 0 on, and without it an edit is at the end", editAt, e.at)
		}
	}
	switch {
	case p.err != nil:
		return e, p.err
	case len(req.texts.elements) != 1:
		return e, refuse("the input %s has %d elements: in a sequence send one", textTensor, len(req.texts.elements))
	case e.length < 0 || e.length > 0 && e.at < 0:
		return e, refuse("%s is %d: send how many code points behind %s are replaced", editLength, e.length, editAt)
	case req.whole.Format != "" && req.whole.Format != translate.Text:
		return e, fault.New(fault.InvalidOption, "", "a sequence has no format %s: send plain text", req.whole.Format)
	}
	e.text = req.texts.elements[0]
	return e, nil
}

// sequenceMessage serves a request of a sequence. of is the answer without its outputs.
func (r *RPC) sequenceMessage(c *gin.Context, of answer, in *pb.ModelInferRequest, body inferBody) (*pb.ModelInferResponse, error) {
	if r.cfg.OpenSession == nil {
		return nil, fault.Off("sequences", "LIVE_SESSIONS=0")
	}
	key := sequenceKey{access.Caller(c.Request), reference(c.Param("model"), c.Param("version")), sequenceOf(in)}
	x := r.sequences.get(key)
	if slices.ContainsFunc(body.Outputs, func(o outputBody) bool { return o.Name != textTensor }) {
		return nil, refuse("a sequence has the output %s only", textTensor)
	}
	body.Outputs = []outputBody{{Name: textTensor}}
	isStart := in.GetParameters()[sequenceStart].GetBoolParam()
	switch {
	case x == nil && !isStart:
		return nil, fault.New(fault.UnknownSession, "", "there is no sequence %.64q: its first request has %s, and a sequence ends that is idle", key.id, sequenceStart)
	case x != nil && !isStart && !slices.ContainsFunc(body.Inputs, func(t inputBody) bool { return t.Name == toTensor }):
		body.Parameters.To = cmp.Or(body.Parameters.To, x.to)
	}
	req, err := body.request(&decoder{most: r.MaxRecords})
	if err != nil {
		return nil, err
	}
	e, err := editOf(in, req)
	if err != nil {
		return nil, err
	}
	if e.start {
		if x, err = r.openSequence(c, key, req); err != nil {
			return nil, err
		}
	} else if req.to[0] != x.to || req.from[0] != "" && req.from[0] != x.from {
		return nil, refuse("the sequence %.64q is from %s into %s: start another one for other languages", key.id, x.from, x.to)
	}
	dialect.Within(c, req.timeout)
	ctx, cancel, err := r.Bounded(c)
	if err != nil {
		return nil, err
	}
	defer cancel()
	changed, err := x.do(ctx, e)
	if e.end {
		x.session.End(live.ReasonDeleted)
	}
	if err != nil {
		return nil, err
	}
	out := req.message(of, []translate.Result{{Record: translate.Record{Text: changed.text}}}, isRaw(in))
	out.Parameters = map[string]*pb.InferParameter{
		keptText:   {ParameterChoice: &pb.InferParameter_Int64Param{Int64Param: int64(changed.kept)}},
		sequenceID: in.GetParameters()[sequenceID],
	}
	if names := changed.flags.Names(); len(names) > 0 {
		out.Parameters[flagsOfText] = &pb.InferParameter{ParameterChoice: &pb.InferParameter_StringParam{StringParam: strings.Join(names, ",")}}
	}
	return out, nil
}

// openSequence opens a sequence, and ends the previous sequence with its id.
func (r *RPC) openSequence(c *gin.Context, key sequenceKey, req request) (*sequence, error) {
	parts, _ := req.parts(key.model)
	part := parts[0]
	part.Records = nil
	if old := r.sequences.get(key); old != nil { // ended before the new sequence opens, which may need its place
		old.session.End(live.ReasonDeleted)
	}
	session, err := r.cfg.OpenSession(c, part)
	if err != nil {
		return nil, err
	}
	x := &sequence{session: session, from: req.from[0], to: req.to[0], untranslated: make(map[int64]bool)}
	r.sequences.put(key, x)
	return x, nil
}

func (s *sequences) get(key sequenceKey) *sequence {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[key]
}

// put adds a sequence until its session ends.
func (s *sequences) put(key sequenceKey, x *sequence) {
	s.mu.Lock()
	if s.by == nil {
		s.by = make(map[sequenceKey]*sequence)
	}
	s.by[key] = x
	s.mu.Unlock()
	x.session.OnEnd(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.by[key] == x {
			delete(s.by, key)
		}
	})
}

// change is a change of a translation: text replaces everything after the first kept code points.
type change struct {
	kept  int
	text  string
	flags translate.Flags
}

// do edits the text and waits until it is translated. On error the text may have been edited: an empty text requests its
// translation again.
func (x *sequence) do(ctx context.Context, e edit) (change, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return change{}, err
	}
	edits := live.Edits{Number: x.edits + 1, Settle: true, Complete: e.end}
	if e.at >= 0 {
		edits.List = []live.Edit{{From: int(e.at), To: int(e.at + e.length), Text: e.text}}
	} else if e.text != "" {
		edits.List = []live.Edit{{From: live.End, Text: e.text}}
	}
	if _, err := x.session.Edit(edits, func() error { return nil }); err != nil {
		return change{}, err
	}
	x.edits++
	whole, err := x.wait(ctx)
	if err != nil {
		return change{}, err
	}
	now, flags := translation(whole)
	before := x.answered
	x.answered = now
	if e.whole {
		return change{0, now, flags}, nil
	}
	same := samePrefix(before, now)
	return change{utf8.RuneCountInString(now[:same]), now[same:], flags}, nil
}

// wait waits until the whole text is translated, and returns the whole translation.
func (x *sequence) wait(ctx context.Context) (live.Update, error) {
	for shown := int64(-1); ; {
		u, err := x.session.Wait(ctx, x.seen, shown)
		if err != nil {
			return u, err
		}
		x.seen, shown = u.Revision, u.Shown
		if u.All {
			clear(x.untranslated)
		}
		for _, id := range u.Removed {
			delete(x.untranslated, id)
		}
		for _, s := range u.Segments {
			if delete(x.untranslated, s.ID); !s.Final {
				x.untranslated[s.ID] = true
			}
		}
		switch {
		case u.Shown >= x.edits && len(x.untranslated) == 0:
			return x.session.Wait(ctx, 0, -1) // all of it, because everything is new to a client at revision 0
		case u.Problem != nil:
			return u, u.Problem
		case u.Ended == live.ReasonShutdown:
			return u, live.ErrShutdown
		case u.Ended != "":
			return u, live.ErrUnknown
		}
	}
}

func translation(whole live.Update) (text string, flags translate.Flags) {
	var out strings.Builder
	for _, s := range whole.Segments {
		out.WriteString(s.Before)
		if s.Text != nil {
			out.WriteString(*s.Text)
		}
		flags |= s.Flags
	}
	if whole.Tail != nil {
		out.WriteString(*whole.Tail)
	}
	return out.String(), flags
}

// samePrefix returns the length in bytes of the common prefix of two texts, in whole code points.
func samePrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}
