package openinference

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/translate"
)

// waiting is a translator whose work lasts until its context ends.
type waiting struct {
	translator
	begun chan struct{}
	ended chan error
}

func (w waiting) Translate(ctx context.Context, _ translate.Request) ([]translate.Result, error) {
	w.begun <- struct{}{}
	<-ctx.Done()
	w.ended <- ctx.Err()
	return nil, ctx.Err()
}

// The work of a request ends when its client leaves, over HTTP, in a call and in a stream of requests.
func TestWorkEndsWithItsClient(t *testing.T) {
	w := waiting{begun: make(chan struct{}), ended: make(chan error)}
	body := bodyOf(toFrench, in("text", "[1]", `"data":["one"]`))
	limit := func(cfg *dialect.Config, _ *Config) { cfg.RequestTimeout = time.Hour }
	c := clientOf(t, w, &fake{}, limit)
	request := message(t, `{"modelName":"default","parameters":{"from":{"stringParam":"en"},"to":{"stringParam":"fr"}},"inputs":[{"name":"text","datatype":"BYTES","shape":[1],"contents":{"bytesContents":["b25l"]}}]}`)
	for name, call := range map[string]func(ctx context.Context) error{
		"HTTP": func(ctx context.Context) error {
			compattest.Send(ctx, serverOf(w, &fake{}, limit), "POST", "/v2/models/default/infer", "", body)
			return nil
		},
		"gRPC": func(ctx context.Context) error {
			_, err := c.ModelInfer(ctx, request)
			assert.Equal(t, codes.Canceled, status.Code(err))
			return nil
		},
		"a stream": func(ctx context.Context) error {
			stream, err := c.ModelStreamInfer(ctx)
			if err == nil {
				err = stream.Send(request)
			}
			if err != nil {
				return err
			}
			_, err = stream.Recv()
			assert.Equal(t, codes.Canceled, status.Code(err))
			return nil
		},
	} {
		ctx, leave := context.WithCancel(t.Context())
		called := make(chan error)
		go func() { called <- call(ctx) }()
		<-w.begun
		leave()
		assert.ErrorIs(t, <-w.ended, context.Canceled, name)
		assert.NoError(t, <-called, name)
	}
}
