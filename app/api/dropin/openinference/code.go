package openinference

import (
	"net/http"

	"google.golang.org/grpc/codes"

	"dragoman/app/fault"
)

// grpcCodes are the gRPC codes of HTTP statuses.
var grpcCodes = map[int]codes.Code{
	http.StatusBadRequest: codes.InvalidArgument, http.StatusUnauthorized: codes.Unauthenticated, http.StatusForbidden: codes.PermissionDenied,
	http.StatusNotFound: codes.NotFound, http.StatusMethodNotAllowed: codes.Unimplemented, http.StatusRequestTimeout: codes.DeadlineExceeded,
	http.StatusConflict: codes.FailedPrecondition, http.StatusGone: codes.NotFound, http.StatusUnsupportedMediaType: codes.InvalidArgument, http.StatusRequestEntityTooLarge: codes.ResourceExhausted,
	http.StatusUnprocessableEntity: codes.InvalidArgument, http.StatusTooManyRequests: codes.ResourceExhausted, 499: codes.Canceled,
	http.StatusInternalServerError: codes.Internal, http.StatusNotImplemented: codes.Unimplemented, http.StatusServiceUnavailable: codes.Unavailable,
	http.StatusGatewayTimeout: codes.DeadlineExceeded, http.StatusInsufficientStorage: codes.ResourceExhausted,
}

// codeOf returns the gRPC code of a failure.
func codeOf(f *fault.Failure) codes.Code {
	code, ok := grpcCodes[f.StatusOr(statuses)]
	if !ok {
		return codes.Unknown
	}
	return code
}
