package cpu

// Kept returns the bytes that the sessions of all models have freed and still keep.
func (m *Model) Kept() int64 { return m.memory.Kept() }
