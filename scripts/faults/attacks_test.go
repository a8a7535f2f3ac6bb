package faults

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"
)

// rewrite returns an attack by a live session whose whole text is replaced a few times.
func (s *service) rewrite(text func() string) func(ctx context.Context) error {
	return func(stop context.Context) error {
		ctx := context.WithoutCancel(stop) // otherwise the connection would close before the session has ended
		conn, _, err := websocket.Dial(ctx, "ws://"+s.address+"/live", nil)
		if err != nil {
			return err
		}
		defer func() { _ = conn.CloseNow() }()
		defer func() { // otherwise the text would be translated for no client
			_ = conn.Write(ctx, websocket.MessageText, []byte(`{"s":1,"end":true}`))
			_ = conn.Close(websocket.StatusNormalClosure, "")
		}()
		conn.SetReadLimit(1 << 20)
		if err := conn.Write(ctx, websocket.MessageText, []byte(`{"s":1,"payload":{"fromLang":"en","toLang":"fr"}}`)); err != nil {
			return err
		}
		const rewritings = 3
		length := 0
		for n := 1; n <= rewritings && stop.Err() == nil; n++ {
			all := text()
			edits := []map[string]any{{"from": 0, "to": length, "text": all}}
			if err := wsjson.Write(ctx, conn, map[string]any{"s": 1, "n": n, "edits": edits}); err != nil {
				return err
			}
			length = len(all)
			for taken := 0; taken < n; {
				var update struct {
					Taken int
					Error *struct{ Message string }
				}
				if err := wsjson.Read(ctx, conn, &update); err != nil {
					return err
				}
				if update.Error != nil {
					return fmt.Errorf("live: %s", update.Error.Message)
				}
				taken = max(taken, update.Taken)
			}
		}
		return nil
	}
}

// wordDocument returns a docx with n equal paragraphs.
func wordDocument(t *testing.T, paragraphs int) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	const kinds = "http://schemas.openxmlformats.org/"
	for _, file := range [][2]string{
		{"[Content_Types].xml", `<Types xmlns="` + kinds + `package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="` + kinds + `package/2006/relationships"><Relationship Id="r" Type="` + kinds +
			`officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", `<w:document xmlns:w="` + kinds + `wordprocessingml/2006/main"><w:body>` +
			strings.Repeat("<w:p><w:r><w:t>It is late.</w:t></w:r></w:p>", paragraphs) + `</w:body></w:document>`},
	} {
		w, err := z.Create(file[0])
		require.NoError(t, err)
		_, err = io.WriteString(w, file[1])
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

// upload submits a document and returns the address of its job; "": there is no room for it now.
func (s *service) upload(ctx context.Context, document []byte) (job string, err error) {
	status, answer, err := s.call(ctx, http.MethodPost, "/documents?fromLang=en&toLang=fr&name=a.docx", document)
	switch {
	case err != nil:
		return "", err
	case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests:
		return "", nil
	case status != http.StatusAccepted:
		return "", fmt.Errorf("status %d: %s", status, answer)
	}
	var accepted struct{ Job struct{ URL string } }
	err = json.Unmarshal(answer, &accepted)
	return accepted.Job.URL, err
}

// downloads returns an attack by downloads of a translated document.
func (s *service) downloads(t *testing.T, document []byte) func(ctx context.Context) error {
	var job string
	eventually(t, time.Minute, "a document is taken", func() (ok bool) {
		var err error
		job, err = s.upload(t.Context(), document)
		require.NoError(t, err)
		return job != ""
	})
	result := ""
	eventually(t, 2*time.Minute, "it is translated", func() bool {
		_, answer, err := s.call(t.Context(), http.MethodGet, job, nil)
		require.NoError(t, err)
		var of struct {
			Job struct {
				State    string
				Document struct{ Result string }
			}
		}
		require.NoError(t, json.Unmarshal(answer, &of))
		require.NotEqual(t, "failed", of.Job.State, string(answer))
		result = of.Job.Document.Result
		return of.Job.State == "done"
	})
	return func(ctx context.Context) error {
		status, answer, err := s.call(ctx, http.MethodGet, result, nil)
		if err == nil && status != http.StatusOK && status != http.StatusServiceUnavailable {
			err = fmt.Errorf("status %d: %.200s", status, answer)
		}
		return err
	}
}

// clear cancels and deletes all jobs of 127.0.0.1.
func (s *service) clear(t *testing.T) {
	eventually(t, time.Minute, "nothing is left to do", func() bool {
		_, answer, err := s.call(t.Context(), http.MethodGet, "/jobs", nil)
		require.NoError(t, err)
		var list struct{ Jobs []struct{ URL string } }
		require.NoError(t, json.Unmarshal(answer, &list), string(answer))
		for _, job := range list.Jobs {
			_, _, err := s.call(t.Context(), http.MethodDelete, job.URL, nil)
			require.NoError(t, err)
		}
		return len(list.Jobs) == 0 && s.idle(t)
	})
}

// call sends a request from 127.0.0.1 and returns the answer.
func (s *service) call(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}
