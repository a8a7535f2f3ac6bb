package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model/source/hubtest"
)

// firefoxMirror serves an index of Firefox models between three languages, all the same small model, and returns its URL.
func firefoxMirror(t *testing.T) string {
	const folder = "../../model/testdata/firefox-trained"
	mux := http.NewServeMux()
	mux.Handle("GET /files/", http.StripPrefix("/files/", http.FileServer(http.Dir(folder))))
	var records []map[string]any
	for _, pair := range [][2]string{{"en", "de"}, {"de", "en"}, {"en", "fr"}, {"fr", "en"}} {
		for kind, file := range map[string]string{"model": "model.enfr.intgemm.alphas.bin", "vocab": "vocab.enfr.spm"} {
			content, err := os.ReadFile(filepath.Join(folder, file))
			require.NoError(t, err)
			name := kind + "." + pair[0] + pair[1] + ".spm"
			if kind == "model" {
				name = kind + "." + pair[0] + pair[1] + ".intgemm.alphas.bin"
			}
			records = append(records, map[string]any{
				"fileType": kind, "sourceLanguage": pair[0], "targetLanguage": pair[1], "version": "3.1", "name": name,
				"attachment": map[string]any{"location": "files/" + file, "hash": hubtest.SHA256(content), "size": len(content), "filename": name},
			})
		}
	}
	mux.HandleFunc("GET /records", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"data": records})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/records"
}
