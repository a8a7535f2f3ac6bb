package live

// memo has the translations of sentences that a session has had, within a bound: of those that were
// not asked for in a while, the older half is forgotten at a time.
type memo struct {
	most            int // bytes of either half
	recent, earlier map[string]string
	bytes           int // of recent
}

// What either half of a session's memo has at most: so many bytes, and so many for each of its text.
const memoBytes, memoTextBytes = 4 << 10, 8

func (m *memo) get(key string) (translation string, known bool) {
	if translation, known = m.recent[key]; known {
		return translation, true
	}
	if translation, known = m.earlier[key]; known {
		m.put(key, translation)
	}
	return translation, known
}

func (m *memo) put(key, translation string) {
	size := len(key) + len(translation)
	if m.bytes+size > m.most || m.recent == nil {
		m.recent, m.earlier, m.bytes = make(map[string]string), m.recent, 0
	}
	m.recent[key] = translation
	m.bytes += size
}
