package compat

import "github.com/gin-gonic/gin"

// Reply is an answer of a handler that is none of status 200 in JSON.
type Reply struct {
	Status int
	Type   string // media type of a body that is a string; "": it is JSON
	Body   any    // nil for none
}

// send writes the reply.
func (r Reply) send(c *gin.Context) {
	text, isText := r.Body.(string)
	switch {
	case r.Body == nil:
		c.Status(r.Status)
	case isText && r.Type != "":
		c.Data(r.Status, r.Type, []byte(text))
	default:
		c.PureJSON(r.Status, r.Body)
	}
}
