package cpu

import (
	"context"

	ort "github.com/yalue/onnxruntime_go"
)

// Session makes a session, for tests of other packages.
func (r *Runtime) Session(ctx context.Context, create func(*ort.SessionOptions) (*ort.DynamicAdvancedSession, error)) (*ort.DynamicAdvancedSession, error) {
	return sessionConfig{runtime: r, threads: 1}.session(ctx, "test", create)
}

// Kept is how many bytes the sessions of all models keep of what they have freed.
func (m *Model) Kept() int64 { return m.memory.Kept() }
