package server

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/remote/remotetest"
)

const (
	gardenEn = "The house has a small green garden and a big tree in the water."
	gardenFr = "Le maison a un petit vert jardin et un grand arbre dans le eau."
	priceEn  = "Please open <b>the door</b> of {room} with 3.50 EUR."
)

// says returns a behaviour that makes an answer of the usual one.
func says(answer func(usual string) string) remotetest.Behaviour {
	return remotetest.Says(func(c remotetest.Call) string { return answer(remotetest.Translate(c.Text)) })
}

// always answers with a text.
func always(text string) remotetest.Behaviour { return says(func(string) string { return text }) }

// A server that misbehaves, once or always: the translation is right, or flagged, and never something else without a word.
func TestLanguageModelMisbehaves(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("The house has a small garden, and the tree is green. ", 4))
	for name, test := range map[string]struct {
		behave remotetest.Behaviour
		source string // gardenEn by default
		text   string // if all answers are wrong; "": not compared
		flags  []string
		calls  int // at most, if all are wrong
	}{
		"thinking":             {behave: says(func(s string) string { return "<think>Hm, French.\n\nOk.</think>\n\n" + s }), text: gardenFr, calls: 1},
		"thinking without end": {behave: always("<think>Hm, French."), text: gardenEn, flags: []string{"refused"}, calls: 3},
		"an announcement":      {behave: says(func(s string) string { return "Sure! Here is the translation:\n\n\"" + s + "\"" }), text: gardenFr, calls: 1},
		"a label":              {behave: says(func(s string) string { return "French: " + s }), text: gardenFr, calls: 1},
		"a note":               {behave: says(func(s string) string { return s + "\n\nNote: jardin can also be a park." }), text: gardenFr, calls: 1},
		"an unknown addition":  {behave: says(func(s string) string { return s + "\n\nThis describes a place." }), text: gardenFr + "\n\nThis describes a place.", flags: []string{"chatter"}, calls: 3},
		"a refusal":            {behave: always("I'm sorry, but I can't assist with that request."), text: gardenEn, flags: []string{"refused"}, calls: 3},
		"the source":           {behave: says(func(string) string { return gardenEn }), text: gardenEn, flags: []string{"source_echo"}, calls: 3},
		"the source before it": {behave: says(func(s string) string { return gardenEn + "\n" + s }), text: gardenFr, calls: 1},
		"another language":     {behave: always("Das Haus hat einen kleinen grünen Garten und einen großen Baum im Wasser."), flags: []string{"wrong_language"}, calls: 3},
		"another script":       {behave: always("В доме есть маленький зелёный сад и большое дерево в воде."), flags: []string{"wrong_language", "wrong_script"}, calls: 3},
		"nothing":              {behave: always(" \n"), text: "", flags: []string{"empty"}, calls: 3},
		"a loop":               {behave: says(func(s string) string { return s + strings.Repeat(" le jardin", 30) }), flags: []string{"chatter", "loop"}, calls: 8},
		"cut off": {behave: func(w http.ResponseWriter, _ *http.Request, _ remotetest.Call) bool {
			remotetest.Answer(w, "Le maison a", "length")
			return true
		}, flags: []string{"truncated"}, calls: 8},
		"filtered": {behave: func(w http.ResponseWriter, _ *http.Request, _ remotetest.Call) bool {
			remotetest.Answer(w, "", "content_filter")
			return true
		}, text: gardenEn, flags: []string{"refused"}, calls: 3},
		"a text that is refused": {behave: remotetest.Status(http.StatusBadRequest, "", ""), text: gardenEn, flags: []string{"refused"}, calls: 3},
		"markers are lost": {behave: says(func(s string) string {
			return strings.NewReplacer("[", "", "]", "", "XA", "", "#", "", "<", "").Replace(s)
		}), source: priceEn, text: "Veuillez ouvrez <b>le porte</b> de {room} avec 3.50 EUR.", calls: 8},
		"markers are doubled": {behave: says(func(s string) string { return strings.ReplaceAll(s, "[1]", "[1][1]") }), source: priceEn, calls: 8},
		"a number is wrong":   {behave: says(func(s string) string { return strings.ReplaceAll(s, "45", "54") }), source: "The house has 45 new books.", text: "Le maison a 45 nouveau books.", calls: 8},
		"far too short":       {behave: always("Le maison."), source: long, flags: []string{"too_short"}, calls: 12},
		"marks of a template": {behave: says(func(s string) string { return s + "<|im_end|>\n<|im_start|>user\nMore!" }), text: gardenFr, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			source := test.source
			if source == "" {
				source = gardenEn
			}
			s := remotetest.New(t, test.behave)
			r := service(t, "MODEL_REPOSITORY="+pullServer(t, s), "CACHE_BYTES=0")
			status, result, body := r.translateWith(t, "", "en", "fr", source)
			require.Equal(t, http.StatusOK, status, body)
			calls := len(s.Calls())
			t.Logf("%d calls, %q, %q", calls, result.Detail.Flags, result.Text)
			assert.ElementsMatch(t, test.flags, result.Detail.Flags)
			assert.LessOrEqual(t, calls, test.calls)
			if test.text != "" {
				assert.Equal(t, test.text, result.Text)
			}
			before := len(s.Calls())
			s.Behave(func(w http.ResponseWriter, r *http.Request, c remotetest.Call) bool {
				return c.Number == before && test.behave(w, r, c)
			})
			status, result, body = r.translateWith(t, "", "en", "fr", source)
			require.Equal(t, http.StatusOK, status, body)
			assert.Empty(t, result.Detail.Flags, "once")
			if source == gardenEn {
				assert.Equal(t, gardenFr, result.Text, "once")
			}
		})
	}
}

// A server that is away, slow or busy: requests wait, are told when to come again, or go to the next model of the order.
func TestLanguageModelIsAway(t *testing.T) {
	s := remotetest.New(t, nil)
	dir := pullServer(t, s)
	addVersion(t, dir+"/small/1", func(string) {})
	writeFile(t, dir+"/config.yaml", "order: [llm, small]\n")
	r := service(t, "MODEL_REPOSITORY="+dir, "CACHE_BYTES=0")

	s.Behave(remotetest.First(2, remotetest.Status(http.StatusTooManyRequests, "Retry-After", "1")))
	status, result, body := r.translateWith(t, "", "en", "fr", station)
	require.Equal(t, http.StatusOK, status, body)
	assert.Equal(t, "llm", result.Detail.Model, "it waited")
	assert.Len(t, s.Calls(), 3)

	for name, behave := range map[string]remotetest.Behaviour{
		"fails":     remotetest.Status(http.StatusInternalServerError, "", ""),
		"is full":   remotetest.Status(http.StatusServiceUnavailable, "Retry-After", "3600"),
		"wrong key": remotetest.Status(http.StatusUnauthorized, "", ""),
		"is no API": func(w http.ResponseWriter, _ *http.Request, _ remotetest.Call) bool {
			fmt.Fprint(w, "<html>")
			return true
		},
		"no choices": func(w http.ResponseWriter, _ *http.Request, _ remotetest.Call) bool { fmt.Fprint(w, "{}"); return true },
		"hangs up": func(w http.ResponseWriter, _ *http.Request, _ remotetest.Call) bool {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				conn.Close()
			}
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := remotetest.New(t, behave)
			writeFile(t, dir+"/llm/config.yaml", fmt.Sprintf("openai: {url: %q, model: %s}\n", s.URL, remotetest.Model))
			require.Eventually(t, func() bool { // the repository is read again
				hangUp(t)
				_, result, _ := r.translateWith(t, "", "en", "fr", station)
				return len(s.Calls()) > 0 && result.Detail.InsteadOf == "llm"
			}, 20*time.Second, 100*time.Millisecond)
			calls := len(s.Calls())
			status, result, body := r.translateWith(t, "", "en", "fr", station)
			require.Equal(t, http.StatusOK, status, body)
			assert.Equal(t, []string{"small", "llm", stationFr}, []string{result.Detail.Model, result.Detail.InsteadOf, result.Text})
			if name != "fails" && name != "hangs up" && name != "no choices" && name != "is no API" { // whose pause is a second
				assert.Len(t, s.Calls(), calls, "the circuit is open")
				status, _, body = r.translateWith(t, "llm", "en", "fr", station)
				assert.Equal(t, http.StatusServiceUnavailable, status)
				assert.Contains(t, body, "model_broken")
				assert.NotContains(t, body, s.URL)
			}
		})
	}
}

// writeFile replaces a file.
func writeFile(t *testing.T, path, content string) {
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}
