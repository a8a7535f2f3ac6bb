package fleet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Each event has an effect in some places. Pairs that are not named change nothing.
func TestStates(t *testing.T) {
	const lease = 4 * time.Second
	begin := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	reply := func(c cause) *reply { return &reply{Fault: c} }
	events := map[string]event{
		"stored":              {kind: stored, at: at(3), entry: "2-0"},
		"rejected":            {kind: rejected},
		"rejected in part":    {kind: rejected, more: true},
		"swept soon":          {kind: swept, at: at(3), lease: lease},
		"swept late":          {kind: swept, at: at(4), lease: lease},
		"found":               {kind: found, at: at(3)},
		"absent, unread":      {kind: absent, at: at(3), read: at(0)},
		"absent, read":        {kind: absent, at: at(3), read: at(1)},
		"flushed":             {kind: flushed},
		"decoded":             {kind: answered, reply: reply("")},
		"again":               {kind: answered, reply: reply(again)},
		"failed":              {kind: answered, reply: reply(failed)},
		"lost":                {kind: answered, reply: reply(lost)},
		"broken":              {kind: answered, reply: reply(broken)},
		"invalid":             {kind: answered, reply: reply(invalid)},
		"dead":                {kind: answered, reply: reply(dead)},
		"of a later version":  {kind: answered, reply: reply("unheard of")},
		"deserted":            {kind: deserted},
		"its request is over": {kind: withdrawn},
	}
	type after struct {
		state
		step step
	}
	retry := func(s state, do step) after { return after{state{losses: s.losses, tries: s.tries}, do} }
	tried := func(s state) after {
		s.tries++
		return retry(s, replace)
	}
	end := func(s state, do step) after {
		s.place = ended
		return after{s, do}
	}
	// Replies and the gateway's own decisions count in every place.
	anywhere := func(s state) map[string]after {
		return map[string]after{
			"decoded": end(s, deliver), "invalid": end(s, deliver), "dead": end(s, deliver), "of a later version": end(s, deliver),
			"again": retry(s, replace), "failed": tried(s), "lost": tried(s), "broken": tried(s),
			"deserted": end(s, giveUp), "its request is over": end(s, withdraw),
		}
	}
	isWaiting := state{losses: 2, tries: 1}
	isRefused := state{place: refused, losses: 2, tries: 1}
	isQueued := state{place: queued, entry: "1-0", since: at(0), losses: 2, tries: 1}
	isSuspect := state{place: queued, entry: "1-0", losses: 2, tries: 1}
	isMissing := state{place: missing, entry: "1-0", since: at(0), losses: 2, tries: 1}
	isVanishing := state{place: missing, entry: "1-0", since: at(0), losses: maxLosses - 1}
	isFailing := state{place: queued, entry: "1-0", since: at(0), tries: maxTries - 1}
	hasEnded := state{place: ended, losses: 2, tries: 1}
	seen := state{place: queued, entry: "1-0", since: at(3), losses: 2, tries: 1}
	unseen := state{place: missing, entry: "1-0", since: at(3), losses: 2, tries: 1}
	for name, test := range map[string]struct {
		state    state
		anywhere bool
		want     map[string]after
	}{
		"waiting": {isWaiting, true, map[string]after{
			"stored":           {state{place: queued, entry: "2-0", since: at(3), losses: 2, tries: 1}, nothing},
			"rejected":         end(isWaiting, giveUp),
			"rejected in part": {isRefused, nothing},
		}},
		"refused": {isRefused, true, map[string]after{
			"swept soon": {isWaiting, submit}, "swept late": {isWaiting, submit},
		}},
		"queued": {isQueued, true, map[string]after{
			"swept late": {isQueued, look}, "found": {seen, nothing},
			"absent, unread": {unseen, nothing}, "absent, read": {unseen, nothing}, "flushed": {isSuspect, nothing},
		}},
		"suspect": {isSuspect, true, map[string]after{
			"swept soon": {isSuspect, look}, "swept late": {isSuspect, look}, "found": {seen, nothing},
			"absent, unread": {unseen, nothing}, "absent, read": {unseen, nothing},
		}},
		"missing": {isMissing, true, map[string]after{
			"swept soon": {isMissing, look}, "swept late": {isMissing, look}, "found": {seen, nothing},
			"absent, read": {state{losses: 3, tries: 1}, submit},
		}},
		"missing for the last time": {isVanishing, true, map[string]after{
			"swept soon": {isVanishing, look}, "swept late": {isVanishing, look},
			"found":        {state{place: queued, entry: "1-0", since: at(3), losses: maxLosses - 1}, nothing},
			"absent, read": {state{place: ended, entry: "1-0", since: at(0), losses: maxLosses}, giveUp},
		}},
		"failing": {isFailing, true, map[string]after{
			"failed":     {state{place: ended, entry: "1-0", since: at(0), tries: maxTries}, deliver},
			"lost":       {state{place: ended, entry: "1-0", since: at(0), tries: maxTries}, deliver},
			"broken":     {state{place: ended, entry: "1-0", since: at(0), tries: maxTries}, deliver},
			"swept late": {isFailing, look}, "found": {state{place: queued, entry: "1-0", since: at(3), tries: maxTries - 1}, nothing},
			"absent, unread": {state{place: missing, entry: "1-0", since: at(3), tries: maxTries - 1}, nothing},
			"absent, read":   {state{place: missing, entry: "1-0", since: at(3), tries: maxTries - 1}, nothing},
			"flushed":        {state{place: queued, entry: "1-0", tries: maxTries - 1}, nothing},
		}},
		"ended": {hasEnded, false, map[string]after{
			"stored": {state{place: ended, entry: "2-0", losses: 2, tries: 1}, nothing},
		}},
	} {
		for what, e := range events {
			want, known := test.want[what]
			if !known && test.anywhere {
				want, known = anywhere(test.state)[what]
			}
			if !known {
				want = after{test.state, nothing}
			}
			s, do := test.state.next(e)
			assert.Equal(t, want, after{s, do}, "%s: %s", name, what)
		}
	}
}
