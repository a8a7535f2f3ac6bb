package cpu

// Kept is how many bytes the sessions of all models keep of what they have freed.
func (m *Model) Kept() int64 { return m.memory.Kept() }
