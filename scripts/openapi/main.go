// Command openapi writes the OpenAPI documents of a service into a folder, as clients get them:
//
//	go run ./scripts/openapi folder
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/openapi"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("name the folder: go run ./scripts/openapi folder")
	}
	description, err := openapi.New(openapi.Config{Version: "dev", MaxRecords: 1024, MaxChars: 100000, MaxBodyBytes: 4 << 20,
		MaxJobRecords: 100000, MaxJobChars: 1000000, MaxJobBodyBytes: 64 << 20, MaxDocumentBytes: 32 << 20, MaxLiveChars: 20000})
	if err != nil {
		return err
	}
	description.Ready(openapi.Model{Languages: []string{"en", "fr", "ja"}, Detects: true, MaxBeams: 8, MaxLength: 1024})
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	description.Register(router, func(*gin.Context) {})
	for _, name := range []string{"openapi.json", "openapi-all.json"} {
		w := httptest.NewRecorder()
		router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/"+name, nil))
		if w.Code != http.StatusOK {
			return fmt.Errorf("%s: %s", name, w.Body)
		}
		if err := os.WriteFile(filepath.Join(os.Args[1], name), w.Body.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
