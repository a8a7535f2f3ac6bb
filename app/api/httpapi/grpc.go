package httpapi

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"dragoman/app/api/dropin/openinference"
	"dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/guard/access"
	"dragoman/app/live"
	"dragoman/app/translate"
	"dragoman/app/wait"
)

// Limits on the resources that a gRPC client can hold open.
const (
	maxStreams     = 256 // per connection
	maxMetadata    = 16 << 10
	handshakeTime  = 10 * time.Second
	connectionIdle = 10 * time.Minute
	pingInterval   = 2 * time.Minute // interval between the server's pings on silent connections
	pingTimeout    = 20 * time.Second
	leastPing      = 10 * time.Second // minimum interval between pings of a client

	streamWorkers = 64 // goroutines kept for calls, with their grown stacks
)

// GRPCServer is a gRPC server that charges its connections to the memory shared by all requests.
type GRPCServer struct {
	*grpc.Server
	calls *calls
}

// Serve accepts connections until the server is stopped.
func (s *GRPCServer) Serve(l net.Listener) error { return s.Server.Serve(s.calls.listen(l)) }

// GRPC returns a server of the Open Inference Protocol over gRPC, with health and reflection. Its calls pass through the same
// router as HTTP requests, see [openinference.RPC]. The options configure TLS.
func (a *API) GRPC(options ...grpc.ServerOption) *GRPCServer {
	rpc := openinference.NewRPC(a.inferenceConfig())
	router := a.newRouter()
	a.server.Mount(router, rpc.Dialect())
	rpc.Router = a.bodies.Serve(router)
	counted := &calls{memory: a.cfg.Memory, conns: make(map[string]*countedConn)}
	server := grpc.NewServer(append(options,
		grpc.MaxRecvMsgSize(int(a.cfg.MaxBodyBytes)), grpc.MaxConcurrentStreams(maxStreams), grpc.MaxHeaderListSize(maxMetadata),
		grpc.ConnectionTimeout(handshakeTime), grpc.ForceServerCodecV2(boundedCodec{encoding.GetCodecV2(encodingproto.Name), a.cfg.MaxRecords}),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: connectionIdle, Time: pingInterval, Timeout: pingTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: leastPing, PermitWithoutStream: true}),
		grpc.UnknownServiceHandler(openinference.Unserved), grpc.NumStreamWorkers(streamWorkers), grpc.StatsHandler(counted), grpc.StreamInterceptor(endReflection(a.ending)),
	)...)
	rpc.Register(server)
	grpc_health_v1.RegisterHealthServer(server, health{ready: &a.readiness, ending: a.ending})
	reflection.Register(server)
	return &GRPCServer{server, counted}
}

// endReflection returns the interceptor that ends reflection streams when the service ends, as it would wait for their clients otherwise; all other streams
// end by themselves.
func endReflection(ending context.Context) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		if !strings.HasPrefix(info.FullMethod, "/grpc.reflection.") {
			return handle(srv, stream)
		}
		ended := make(chan error, 1)
		go func() { ended <- handle(srv, stream) }() // ends at the latest when this function returns, which ends the stream
		select {
		case err := <-ended:
			return err
		case <-ending.Done():
			return status.Error(codes.Unavailable, "the service is shutting down")
		}
	}
}

// inferenceConfig returns the configuration of the Open Inference Protocol.
func (a *API) inferenceConfig() openinference.Config {
	cfg := openinference.Config{Server: a.server, Version: a.cfg.Version, Live: a.readiness.dead, Ready: a.readiness.refusal, Ending: a.ending}
	cfg.Models = func() openinference.Models {
		if models := a.managed.Load(); models != nil {
			return *models
		}
		return nil
	}
	if l := a.cfg.Live; l != nil {
		cfg.OpenSession = func(c *gin.Context, req translate.Request) (*live.Session, error) {
			return l.Open(c.Request.Context(), access.Caller(c.Request), req, a.cfg.Gate.Account(c.Request).Charge)
		}
	}
	return cfg
}

// boundedCodec is the codec of protobuf, but refuses requests with too many parts before it allocates them.
type boundedCodec struct {
	encoding.CodecV2
	most int // maximum elements of a tensor
}

// Unmarshal implements [encoding.CodecV2].
func (b boundedCodec) Unmarshal(data mem.BufferSlice, v any) error {
	in, ok := v.(proto.Message)
	if !ok || in.ProtoReflect().Descriptor().ParentFile().Package() != inferencepb.Service().ParentFile().Package() {
		return b.CodecV2.Unmarshal(data, v)
	}
	raw := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer raw.Free()
	if err := openinference.CheckMessage(raw.ReadOnlyData(), in.ProtoReflect().Descriptor(), b.most); err != nil {
		openinference.Refuse(in, err)
		return nil
	}
	err := b.CodecV2.Unmarshal(mem.BufferSlice{raw}, v)
	in.ProtoReflect().SetUnknown(nil)
	return err
}

// health answers grpc.health.v1: whether the API accepts requests.
type health struct {
	grpc_health_v1.UnimplementedHealthServer
	ready  *readiness
	ending context.Context
}

// Check implements the service, with one status for all services.
func (h health) Check(context.Context, *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	status := grpc_health_v1.HealthCheckResponse_SERVING
	if h.ready.refusal() != nil {
		status = grpc_health_v1.HealthCheckResponse_NOT_SERVING
	}
	return &grpc_health_v1.HealthCheckResponse{Status: status}, nil
}

// healthEvery is the interval at which Watch checks for a change.
const healthEvery = time.Second

// Watch implements the service: it sends the status and each change of it, until the service ends.
func (h health) Watch(in *grpc_health_v1.HealthCheckRequest, stream grpc.ServerStreamingServer[grpc_health_v1.HealthCheckResponse]) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(h.ending, cancel)()
	for last := grpc_health_v1.HealthCheckResponse_UNKNOWN; ; {
		now, err := h.Check(ctx, in)
		if err == nil && now.GetStatus() != last {
			last = now.GetStatus()
			err = stream.Send(now)
		}
		if err != nil {
			return err
		}
		if !wait.For(ctx, healthEvery) {
			return status.Error(codes.Canceled, "nobody watches any more, or the service ends")
		}
	}
}
