// Command server serves the drop-in APIs with a translator that writes texts in
// capitals, so that published clients can be run against them without a model. The
// key "wrong" is not valid, all others are.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/access"
	"dragoman/app/admission"
	"dragoman/app/body"
	"dragoman/app/compat/compattest"
	"dragoman/app/compat/deepl"
	"dragoman/app/compat/libretranslate"
	"dragoman/app/dialect"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	addressFile := flag.String("address", "", "file for the address, once the server listens")
	flag.Parse()
	if err := run(ctx, *addressFile); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// run serves on a free port until ctx is done.
func run(ctx context.Context, addressFile string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile(addressFile, []byte("http://"+listener.Addr().String()), 0o644); err != nil {
		return err
	}
	apis := compattest.Server(dialect.Config{Gate: gate{}}, translator(), libretranslate.New, deepl.New)
	bodies := body.New(body.Config{Most: 4 << 20, Memory: admission.New(64 << 20), Timeout: 30 * time.Second})
	server := &http.Server{Handler: bodies.Serve(apis), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// translator has a model beside the one of many languages.
func translator() compattest.Translator {
	return compattest.Translator{Named: map[string]compattest.Models{
		"en-ja": {Codes: []string{"en", "ja"}, Tells: compattest.Translator{}, Pairs: map[string][]string{"en": {"en", "ja"}, "ja": {"ja"}}},
	}}
}

// gate refuses one key, wherever it is.
type gate struct{ *access.Gate }

func (gate) MustReadKey(*gin.Context, string) (bool, error) { return true, nil }

func (gate) Enter(c *gin.Context, key string) error {
	_, header, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	if key == "wrong" || header == "wrong" {
		return access.ErrBadKey
	}
	return nil
}
