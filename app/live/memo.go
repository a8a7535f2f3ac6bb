package live

import (
	"dragoman/app/guard/admission/cost"
	"dragoman/app/translate"
)

// translation is that of a sentence.
type translation struct {
	text  string
	flags translate.Flags
}

// memo has the translations of sentences that a session has had, within a bound: of those that were
// not asked for in a while, the older half is forgotten at a time.
type memo struct {
	most            int // bytes of either half
	recent, earlier map[string]translation
	bytes           int // of recent
}

// memoShare is the part of a session's memory, one in so many, that either half of its memo has at most.
const memoShare = 8

func (m *memo) get(key string) (t translation, known bool) {
	if t, known = m.recent[key]; known {
		return t, true
	}
	if t, known = m.earlier[key]; known {
		m.put(key, t)
	}
	return t, known
}

func (m *memo) put(key string, t translation) {
	size := cost.Remembered + len(key) + len(t.text)
	if m.bytes+size > m.most || m.recent == nil {
		m.recent, m.earlier, m.bytes = make(map[string]translation), m.recent, 0
	}
	m.recent[key] = t
	m.bytes += size
}
