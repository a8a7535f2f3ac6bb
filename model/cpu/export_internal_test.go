package cpu

import (
	"context"

	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model/cpu/pool"
)

// Session makes a session, for tests of other packages.
func (r *Runtime) Session(ctx context.Context, create func(*ort.SessionOptions) (*ort.DynamicAdvancedSession, error)) (*ort.DynamicAdvancedSession, error) {
	return r.newSessionConfig(1).session(ctx, "test", create)
}

// Prepacked says that the model shares its matrices with the other workers and
// processes that opened the same folder.
func (m *Model) Prepacked() bool { return m.prepack != nil }

// Kept is how many bytes the sessions of all models keep of what they have freed.
func (m *Model) Kept() int64 { return m.memory.Kept(pool.Loading) + m.memory.Kept(pool.Running) }

// KeptOfLoads is Kept of what sessions are made with.
func (m *Model) KeptOfLoads() int64 { return m.memory.Kept(pool.Loading) }
