package dialect

import (
	"slices"

	"github.com/gin-gonic/gin"
)

// Share lets dialects share their common paths: a request goes to the first route that takes it ([Route.Takes]), in the order of
// the dialects, or else to the route without Takes. The dialect of the route without Takes renders failures that occur before the
// choice, such as a body that is too large or a method that the path does not take. The routes of a path have the same methods.
func Share(dialects ...Dialect) []Dialect {
	shared := slices.Clone(dialects)
	for i, d := range dialects {
		shared[i].Routes = nil
		for _, route := range d.Routes {
			switch guests := guestsAt(dialects, route.Path); {
			case route.Takes == nil:
				route.Handler = host(route.Handler, guests)
				shared[i].Routes = append(shared[i].Routes, route)
			case !hosted(dialects, route.Path):
				shared[i].Routes = append(shared[i].Routes, route)
			}
		}
	}
	return shared
}

// guest is a route on another dialect's path.
type guest struct {
	dialect Dialect
	route   Route
}

// guestsAt returns the routes of a path that have Takes.
func guestsAt(dialects []Dialect, path string) (guests []guest) {
	for _, d := range dialects {
		for _, route := range d.Routes {
			if route.Path == path && route.Takes != nil {
				guests = append(guests, guest{d, route})
			}
		}
	}
	return guests
}

// hosted reports whether a path has a route that takes all requests.
func hosted(dialects []Dialect, path string) bool {
	return slices.ContainsFunc(dialects, func(d Dialect) bool {
		return slices.ContainsFunc(d.Routes, func(r Route) bool { return r.Path == path && r.Takes == nil })
	})
}

// host returns the handler of a path with guests.
func host(own Handler, guests []guest) Handler {
	if len(guests) == 0 {
		return own
	}
	return func(c *gin.Context) (any, error) {
		for _, g := range guests {
			if g.route.Takes(c) {
				g.dialect.UseRenderer(c)
				return g.route.Handler(c)
			}
		}
		return own(c)
	}
}
