package onnxruntime

import (
	"context"
	"unsafe"
)

// Interrupted is NewSession with load in place of the creation of the session. again makes the session, ignoring ctx.
func (a *API) Interrupted(ctx context.Context, s Setup, load func(again func() (*Session, error)) (*Session, error)) (*Session, error) {
	return a.newSession(ctx, s, func(o *options) (*Session, error) { return load(o.session) })
}

// Bound returns the tensor that a name is bound to.
func (b *Binding) Bound(name string) unsafe.Pointer { return unsafe.Pointer(b.bound[name].value) }
