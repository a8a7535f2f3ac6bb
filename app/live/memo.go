package live

import (
	"dragoman/app/guard/admission/cost"
	"dragoman/app/translate"
)

// translation is the translation of a sentence.
type translation struct {
	text  string
	flags translate.Flags
}

// memo holds the translations of sentences of a session, within a limit: when it is full, it forgets the older half, which has
// not been used for a while.
type memo struct {
	most            int // maximum bytes of either half
	recent, earlier map[string]translation
	bytes           int // bytes of recent
}

// memoShare is the divisor of a session's memory that limits either half of its memo.
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
