package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
	"dragoman/app/remote/remotetest"
)

// prompts returns the texts of calls, and what the server was told beside.
func prompts(s *remotetest.Server) (texts, told []string) {
	for _, c := range s.Calls() {
		texts, told = append(texts, c.Text), append(told, c.System())
	}
	return texts, told
}

// A document's sentences come with those before them, across paragraphs; a term comes with the sentences that have it, and is in
// the translation.
func TestLanguageModelDocument(t *testing.T) {
	s := remotetest.New(t, remotetest.Says(func(c remotetest.Call) string {
		text := remotetest.Translate(c.Text)
		if strings.Contains(c.System(), "garden = potager") {
			text = strings.ReplaceAll(text, "jardin", "potager")
		}
		return text
	}))
	dir := pullServer(t, s)
	writeFile(t, dir+"/llm/config.yaml", fmt.Sprintf("openai: {url: %q, model: %s, concurrency: 1}\n", s.URL, remotetest.Model))
	terms, doc := filepath.Join(t.TempDir(), "terms.tsv"), filepath.Join(t.TempDir(), "a.md")
	writeFile(t, terms, "garden\tpotager\n")
	writeFile(t, doc, "# The house\n\nThe garden is green. The water is good.\n\nThe tree is big.\n")
	r := execute(t, "", environment("MODEL_REPOSITORY="+dir), "translate", "--from", "en", "--to", "fr", "--terms", terms, doc, "--output", doc+".fr")
	require.Equal(t, cli.ExitOK, r.code, r.stderr)
	raw, err := os.ReadFile(doc + ".fr")
	require.NoError(t, err)
	assert.Equal(t, "# Le maison\n\nLe potager est vert. Le eau est bon.\n\nLe arbre est grand.\n", string(raw))
	texts, told := prompts(s)
	assert.Equal(t, []string{"The house", "The garden is green.", "The water is good.", "The tree is big."}, texts)
	assert.NotContains(t, told[0], "comes after")
	assert.Contains(t, told[2], "must not translate:\nThe house\nThe garden is green.")
	assert.Contains(t, told[3], "must not translate:\nThe garden is green.\nThe water is good.")
	assert.Contains(t, told[1], "\ngarden = potager")
	assert.NotContains(t, told[2], "potager")
}

// Texts that do not belong together are translated by themselves, equal ones once; a paragraph is translated at once if the profile
// says so.
func TestLanguageModelUnits(t *testing.T) {
	s := remotetest.New(t, nil)
	dir := pullServer(t, s)
	writeFile(t, dir+"/llm/own.yaml", `
languages: {en: English, fr: French}
unit: paragraph
request: {messages: [{role: user, content: "{{.Text}}"}], temperature: 0}
`)
	r := service(t, "MODEL_REPOSITORY="+dir)
	for _, text := range []string{"The house.", "The garden.", "The house."} {
		status, _, body := r.translateWith(t, "", "en", "fr", text)
		require.Equal(t, http.StatusOK, status, body)
	}
	texts, told := prompts(s)
	assert.Equal(t, []string{"The house.", "The garden."}, texts, "the third is in the cache")
	assert.Equal(t, told[0], told[1])
	writeFile(t, dir+"/llm/config.yaml", fmt.Sprintf("openai: {url: %q, model: %s, profile: own.yaml}\n", s.URL, remotetest.Model))
	const text = "The house is big. The garden is green."
	require.Eventually(t, func() bool {
		hangUp(t)
		_, _, _ = r.translateWith(t, "", "en", "fr", text)
		calls := s.Calls()
		return calls[len(calls)-1].System() == ""
	}, 20*time.Second, 100*time.Millisecond)
	_, result, _ := r.translateWith(t, "", "en", "fr", text)
	assert.Equal(t, "Le maison est grand. Le jardin est vert.", result.Text)
	texts, _ = prompts(s)
	assert.Equal(t, text, texts[len(texts)-1])
	assert.Len(t, result.Detail.Segments, 1)
}
