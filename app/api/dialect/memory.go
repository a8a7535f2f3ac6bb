package dialect

import (
	"github.com/gin-gonic/gin"

	"dragoman/app/fault"
	"dragoman/app/translate"
)

// OwnMemory makes the translation memory that a request names one of the sender's. It fails if the service has none.
func (s *Server) OwnMemory(c *gin.Context, req *translate.Request) error {
	if req.Memory == nil {
		return nil
	}
	if s.Memories == nil {
		return fault.New(fault.NotOffered, "payload.memoryId", "this service keeps no translation memories: MEMORY_FILE is off")
	}
	ref := *req.Memory
	ref.Owner = OwnerOf(c)
	req.Memory = &ref
	return nil
}
