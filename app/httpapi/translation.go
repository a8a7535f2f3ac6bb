package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// translation serves POST /translation.
func (a *API) translation(c *gin.Context) {
	req, err := a.read(c)
	if err != nil {
		a.server.Fail(c, err)
		return
	}
	parts, err := a.server.WithGlossaries(c, req.glossaries, req.Request)
	if err != nil {
		a.server.Fail(c, err)
		return
	}
	results, err := a.server.TranslateAll(c, parts)
	if err != nil {
		a.server.Fail(c, err)
		return
	}
	output := make([]recordOutput, 0, len(req.Records)*len(req.To)) // not nil: no records are [] in JSON
	for _, part := range results {
		for _, r := range part {
			output = append(output, req.output(r))
		}
	}
	c.PureJSON(http.StatusOK, gin.H{"result": output})
}

// read lets a request for translations in, and reads it.
func (a *API) read(c *gin.Context) (req translationRequest, err error) {
	if err := a.cfg.Gate.Enter(c, ""); err != nil {
		return req, err
	}
	if _, err := a.server.Translator(); err != nil {
		return req, err
	}
	return decodeTranslation(c, a.cfg.MaxRecords)
}
