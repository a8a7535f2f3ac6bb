package fault

import (
	"net/http"

	"google.golang.org/grpc/codes"
)

// grpcCodes are gRPC's codes by the status of the Open Inference Protocol over HTTP.
var grpcCodes = map[int]codes.Code{
	http.StatusBadRequest: codes.InvalidArgument, http.StatusUnauthorized: codes.Unauthenticated, http.StatusForbidden: codes.PermissionDenied,
	http.StatusNotFound: codes.NotFound, http.StatusMethodNotAllowed: codes.Unimplemented, http.StatusRequestTimeout: codes.DeadlineExceeded,
	http.StatusConflict: codes.FailedPrecondition, http.StatusGone: codes.NotFound, http.StatusUnsupportedMediaType: codes.InvalidArgument, http.StatusRequestEntityTooLarge: codes.ResourceExhausted,
	http.StatusUnprocessableEntity: codes.InvalidArgument, http.StatusTooManyRequests: codes.ResourceExhausted, 499: codes.Canceled,
	http.StatusInternalServerError: codes.Internal, http.StatusNotImplemented: codes.Unimplemented, http.StatusServiceUnavailable: codes.Unavailable,
	http.StatusGatewayTimeout: codes.DeadlineExceeded, http.StatusInsufficientStorage: codes.ResourceExhausted,
}

// GRPC is the code for clients of gRPC.
func (f *Failure) GRPC() codes.Code {
	code, ok := grpcCodes[f.OpenInference()]
	if !ok {
		return codes.Unknown
	}
	return code
}
