package dialect

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"

	"dragoman/app/fault"
)

// named returns a dialect whose answers and failures contain its name.
func named(name string, routes ...Route) Dialect {
	for i := range routes {
		routes[i].Methods = "GET"
		routes[i].Handler = func(c *gin.Context) (any, error) {
			if c.Query("fail") != "" {
				return nil, errors.New("it failed")
			}
			return Reply{Type: "text/plain", Body: []byte(name)}, nil
		}
	}
	return Dialect{Routes: routes, Render: func(*gin.Context, *fault.Failure) (int, any) { return 500, name }}
}

func TestShare(t *testing.T) {
	s := New(Config{})
	has := func(field string) func(*gin.Context) bool {
		return func(c *gin.Context) bool { return c.Query(field) != "" }
	}
	dialects := Share(
		named("one", Route{Path: "/a", Takes: has("one")}, Route{Path: "/own"}),
		named("host", Route{Path: "/a"}, Route{Path: "/b"}),
		named("two", Route{Path: "/b", Takes: has("two")}, Route{Path: "/a", Takes: has("two")}, Route{Path: "/alone", Takes: has("two")}),
	)
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	for _, d := range dialects {
		s.Mount(router, d)
	}
	for target, want := range map[string]string{
		"/a": "host", "/a?one=1": "one", "/a?two=1": "two", "/a?two=1&one=1": "one", "/b": "host", "/b?one=1": "host", "/b?two=1": "two",
		"/own": "one", "/alone": "two",
		"/a?fail=1": `"host"`, "/a?fail=1&one=1": `"one"`, "/b?fail=1&two=1": `"two"`,
	} {
		w := httptest.NewRecorder()
		router.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
		assert.Equal(t, want, strings.TrimSpace(w.Body.String()), target)
	}
	for path, owner := range map[string]int{"/a": 1, "/b": 1, "/own": 0, "/alone": 2} {
		for i, d := range dialects {
			assert.Equal(t, i == owner, d.Owns(path), "%s of dialect %d", path, i)
		}
	}
}
