package server

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// novel has two paragraphs of three sentences, wrapped at 45 characters.
var novel = strings.Repeat("It was a bright cold day in April. The wind\n"+
	"went through the streets of the old town and\n"+
	"nobody was there to hear it. The clocks were\n"+
	"striking thirteen, and the man at the window\n"+
	"did not look up.\n\n", 2)

// assertWrapped checks that a text is wrapped like the novel: two paragraphs of several lines, none too long.
func assertWrapped(t *testing.T, text string) {
	t.Helper()
	paragraphs := strings.Split(strings.TrimSuffix(text, "\n\n"), "\n\n")
	require.Len(t, paragraphs, 2, text)
	for _, p := range paragraphs {
		assert.Contains(t, p, "\n")
		for line := range strings.SplitSeq(p, "\n") {
			assert.LessOrEqual(t, len([]rune(line)), 45, text)
		}
	}
}

// In wrapped text, sentences continue on the next line, and the translation is wrapped again.
func TestWrappedText(t *testing.T) {
	r := service(t, "JOB_FILE="+filepath.Join(t.TempDir(), "jobs.db"))
	for field, sentences := range map[string]int{"": 6, `"wrapped":"on",`: 6, `"wrapped":"off",`: 14} {
		quoted, err := json.Marshal(novel)
		require.NoError(t, err)
		_, answer := r.send(t, "/translation", `{"payload":{"fromLang":"en","toLang":"fr",`+field+`"detail":true,"records":[{"id":"1","text":`+string(quoted)+`}]}}`)
		var got struct {
			Result []struct {
				Text   string
				Detail struct{ Segments []struct{ Source string } }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(answer), &got))
		require.Len(t, got.Result, 1, answer)
		assert.Len(t, got.Result[0].Detail.Segments, sentences, field)
		if sentences == 6 {
			assertWrapped(t, got.Result[0].Text)
			assert.Equal(t, "The wind went through the streets of the old town and nobody was there to hear it.", got.Result[0].Detail.Segments[1].Source)
		}
	}
	resp, answer := r.send(t, "/translation", `{"payload":{"fromLang":"en","toLang":"fr","wrapped":"maybe","records":[]}}`)
	assert.Equal(t, 400, resp.StatusCode)
	assert.Contains(t, answer, `"payload.wrapped"`)

	for wrapped, texts := range map[string]int{"": 1, "on": 1, "off": 5} {
		fields := map[string]string{"fromLang": "en", "toLang": "fr"}
		if wrapped != "" {
			fields["wrapped"] = wrapped
		}
		status, raw := upload(t, r.url+"/documents", "novel.txt", novel, fields)
		require.Equal(t, 202, status, "%s", raw)
		var submitted jobAnswer
		require.NoError(t, json.Unmarshal(raw, &submitted))
		assert.Equal(t, texts, submitted.Job.Progress.Records, "what is there twice is one text")
		require.Equal(t, "done", ended(t, r.url+submitted.Job.URL).Job.State)
		_, _, got := fetch(t, r.url+"/documents/"+submitted.Job.ID+"/result")
		if texts == 1 {
			assertWrapped(t, got)
		} else {
			assert.Equal(t, strings.Count(novel, "\n"), strings.Count(got, "\n"))
		}
	}
}
