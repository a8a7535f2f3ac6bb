package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"

	"dragoman/app/webfile"
	"dragoman/app/webpage"
)

// script is what the next requests meet. A test sets it with PUT /control.
type script struct {
	Key        string    `json:"key"`        // the API key that is wanted; empty: none
	Loading    bool      `json:"loading"`    // the model is not ready
	Hold       bool      `json:"hold"`       // results wait for POST /control/release
	MaxRecords int       `json:"maxRecords"` // of a request; 0: no bound
	Failures   []failure `json:"failures"`   // of the next translations, one each
}

// failure is how a translation fails.
type failure struct {
	Status     int    `json:"status"` // 0: the answer begins well
	Code       string `json:"code"`   // empty: the connection breaks
	Message    string `json:"message"`
	RetryAfter string `json:"retryAfter"`
	After      int    `json:"after"` // with status 0: results that are sent before; the next one is waited for
}

// seen is a translation that was asked for, for GET /control/seen.
type seen struct {
	FromLang string   `json:"fromLang"`
	ToLang   string   `json:"toLang"`
	Texts    []string `json:"texts"`
	State    string   `json:"state"` // open, done, failed or cancelled
}

// server is the page with a made-up API.
type server struct {
	site *webpage.Site

	mu       sync.Mutex // guards what follows
	script   script
	released map[string]bool // source texts whose results may go
	seen     []*seen
	changed  chan struct{} // closed and made anew when script or released change
}

func newServer() (*server, error) {
	site, err := webpage.New()
	if err != nil {
		return nil, err
	}
	return &server{site: site, released: map[string]bool{}, changed: make(chan struct{})}, nil
}

func (s *server) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.GET("/", func(c *gin.Context) {
		if webfile.PrefersHTML(c.Request) {
			s.site.Page(c)
			return
		}
		c.JSON(http.StatusOK, gin.H{"name": "fakeserver"})
	})
	router.GET(webpage.AssetsPath, s.site.Asset(func(c *gin.Context) { c.Status(http.StatusNotFound) }))
	router.GET("/docs", func(c *gin.Context) { c.String(http.StatusOK, "docs") })
	router.GET("/readyz", s.ready, func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "ready"}) })
	router.GET("/languages", s.languages)
	router.POST("/translation/stream", s.authorized, s.ready, s.translate)

	router.PUT("/control", s.setScript)
	router.POST("/control/release", s.release)
	router.GET("/control/seen", func(c *gin.Context) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.JSON(http.StatusOK, s.seen)
	})
	return router
}

// setScript takes a script and forgets everything before it.
func (s *server) setScript(c *gin.Context) {
	var next script
	if err := c.BindJSON(&next); err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.released, s.seen = next, map[string]bool{}, []*seen{}
	s.wake()
}

// release lets the results of some source texts go.
func (s *server) release(c *gin.Context) {
	var texts []string
	if err := c.BindJSON(&texts); err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range texts {
		s.released[text] = true
	}
	s.wake()
}

// wake tells all that wait to look again. The caller holds mu.
func (s *server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *server) authorized(c *gin.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script.Key != "" && c.GetHeader("Authorization") != "Bearer "+s.script.Key {
		fail(c, failure{Status: http.StatusUnauthorized, Code: "unauthorized", Message: "an API key is needed"})
	}
}

func (s *server) ready(c *gin.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script.Loading {
		fail(c, failure{Status: http.StatusServiceUnavailable, Code: "not_ready", Message: "the model is loading", RetryAfter: "1"})
	}
}

func fail(c *gin.Context, f failure) {
	if f.RetryAfter != "" {
		c.Header("Retry-After", f.RetryAfter)
	}
	c.AbortWithStatusJSON(f.Status, gin.H{"error": problem(f)})
}

func problem(f failure) gin.H { return gin.H{"code": f.Code, "message": f.Message} }

type record struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

type payload struct {
	FromLang string   `json:"fromLang"`
	ToLang   string   `json:"toLang"`
	Records  []record `json:"records"`
	Detail   bool     `json:"detail"`
}

// languages serves GET /languages. Its errors have LibreTranslate's form.
func (s *server) languages(c *gin.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script.Loading {
		c.JSON(http.StatusServiceUnavailable, gin.H{"error": "the model is loading"})
		return
	}
	c.JSON(http.StatusOK, offered())
}

// translate serves POST /translation/stream as the script wants it.
func (s *server) translate(c *gin.Context) {
	var body struct {
		Payload payload `json:"payload"`
	}
	if err := c.BindJSON(&body); err != nil {
		return
	}
	entry, failing := s.begin(body.Payload)
	state := "done"
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		entry.State = state
	}()
	if failing != nil && failing.Status != 0 {
		state = "failed"
		fail(c, *failing)
		return
	}
	if err := s.stream(c, body.Payload, failing); err != nil {
		state = "cancelled"
	}
}

// begin notes a request and finds how it is to fail, if at all.
func (s *server) begin(p payload) (*seen, *failure) {
	entry := &seen{FromLang: p.FromLang, ToLang: p.ToLang, State: "open"}
	for _, r := range p.Records {
		entry.Texts = append(entry.Texts, r.Text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, entry)
	if most := s.script.MaxRecords; most > 0 && len(p.Records) > most {
		return entry, &failure{Status: http.StatusRequestEntityTooLarge, Code: "too_many_records",
			Message: strconv.Itoa(len(p.Records)) + " records, at most " + strconv.Itoa(most) + " are allowed"}
	}
	if len(s.script.Failures) == 0 {
		return entry, nil
	}
	first := s.script.Failures[0]
	s.script.Failures = s.script.Failures[1:]
	return entry, &first
}

// stream sends the results as their texts are released. It fails when the client
// leaves, and breaks the connection where failing wants that.
func (s *server) stream(c *gin.Context, p payload, failing *failure) error {
	c.Header("Content-Type", "application/x-ndjson")
	c.Writer.Flush() // the answer has begun, whatever happens now
	send := func(value any) error {
		if err := json.NewEncoder(c.Writer).Encode(value); err != nil {
			return err
		}
		c.Writer.Flush()
		return nil
	}
	total := len(p.Records)
	for pending, sent := p.Records, 0; len(pending) > 0; sent++ {
		i, err := s.next(c.Request.Context(), pending)
		if err != nil {
			return err
		}
		if failing != nil && sent == failing.After {
			if failing.Code == "" {
				panic(http.ErrAbortHandler)
			}
			return send(gin.H{"error": problem(*failing)})
		}
		if err := send(gin.H{"result": answer(p, pending[i])}); err != nil {
			return err
		}
		pending = slices.Delete(slices.Clone(pending), i, i+1)
	}
	return send(gin.H{"done": gin.H{"results": total}})
}

// next waits until one of the records may go and returns its index.
func (s *server) next(ctx context.Context, pending []record) (int, error) {
	for {
		s.mu.Lock()
		hold, changed := s.script.Hold, s.changed
		i := slices.IndexFunc(pending, func(r record) bool { return !hold || s.released[r.Text] })
		s.mu.Unlock()
		if i >= 0 {
			return i, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
