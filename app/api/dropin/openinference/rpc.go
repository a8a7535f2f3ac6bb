package openinference

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"dragoman/app/api/dialect"
	pb "dragoman/app/api/dropin/openinference/inferencepb"
	"dragoman/app/budget"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/wait"
)

// RPC serves the protocol over gRPC. A call is an in-process request to a router with [RPC.Dialect], so the middleware of all
// routes, such as keys, limits, metrics and the log, applies. Requests and answers are the same as over REST, rendered as
// messages.
type RPC struct {
	*api
	Router    http.Handler // must be set before the first call
	sequences sequences
}

// NewRPC returns the service.
func NewRPC(cfg Config) *RPC { return &RPC{api: &api{cfg.Server, cfg}} }

// exchange is a call, kept in the context of its request.
type exchange struct {
	in             proto.Message
	model, version string
	answer         any
	failure        *fault.Failure
}

type exchangeKey struct{}

func exchangeOf(c *gin.Context) *exchange {
	e, _ := c.Request.Context().Value(exchangeKey{}).(*exchange)
	return e
}

// modelInfer is the name of the method that translates.
const modelInfer = "ModelInfer"

// Dialect returns the protocol as data. Its routes are the paths of methods.
func (r *RPC) Dialect() dialect.Dialect {
	var routes []dialect.Route
	add := func(method string, free bool, h dialect.Handler) {
		routes = append(routes, dialect.Route{Methods: http.MethodPost, Path: pb.Path(method), Free: free, Handler: func(c *gin.Context) (any, error) {
			e := exchangeOf(c)
			if e == nil {
				return nil, fault.New(fault.NotFound, "", "there is no such route")
			}
			c.Params = gin.Params{{Key: "model", Value: e.model}, {Key: "version", Value: e.version}}
			if err := refusal(e.in); err != nil {
				return nil, err
			}
			answer, err := h(c)
			e.answer = answer
			return nil, err
		}})
	}
	add("ServerMetadata", true, r.server)
	add("ModelMetadata", true, r.keyed(r.metadata))
	add("ModelConfig", true, r.keyed(func(c *gin.Context, models Models) (any, error) {
		config, err := r.config(c, models)
		return gin.H{"config": config}, err
	}))
	add("ModelStatistics", true, r.keyed(func(c *gin.Context, models Models) (any, error) {
		if c.Param("model") == "" {
			return allStatistics(c, models)
		}
		return r.statistics(c, models)
	}))
	add("RepositoryIndex", true, r.keyed(func(c *gin.Context, models Models) (any, error) {
		return gin.H{"models": indexOf(models, valueIn(exchangeOf(c).in, "ready").Bool())}, nil
	}))
	add("RepositoryModelLoad", true, r.keyed(func(c *gin.Context, models Models) (any, error) {
		if err := r.Gate.Admin(c.Request); err != nil {
			return nil, err
		}
		return gin.H{}, r.loadNamed(c, models, valueIn(exchangeOf(c).in, "parameters").Map().Len() > 0)
	}))
	add("RepositoryModelUnload", true, r.keyed(r.unload))
	add(modelInfer, false, r.keyed(r.inferMessage))
	return dialect.Dialect{Routes: routes, Render: func(c *gin.Context, f *fault.Failure) (int, any) {
		if e := exchangeOf(c); e != nil {
			e.failure = f
		}
		return f.StatusOr(statuses), nil
	}}
}

// inferMessage serves ModelInfer.
func (r *RPC) inferMessage(c *gin.Context, models Models) (any, error) {
	if err := r.Permit(c); err != nil {
		return nil, err
	}
	in := exchangeOf(c).in.(*pb.ModelInferRequest)
	ctx, size := c.Request.Context(), bytesOf(in)
	admission.Charge(ctx, access.Caller(c.Request))
	if err := budget.Take(ctx, size*cost.BodyByte); err != nil {
		return nil, err
	}
	m, err := r.find(c, models.Index())
	if err != nil {
		return nil, err
	}
	body, err := messageOf(in)
	if err != nil {
		return nil, err
	}
	if sequenceOf(in) != "" {
		return r.sequenceMessage(c, answer{ID: body.ID, Model: m.Name, Version: m.Version}, in, body)
	}
	req, err := body.request(&decoder{most: r.MaxRecords})
	if err != nil {
		return nil, err
	}
	results, err := r.translate(c, &m, req)
	if err != nil {
		return nil, err
	}
	return req.message(answer{ID: req.id, Model: m.Name, Version: m.Version}, results, isRaw(in)), nil
}

// call passes a call to the router. The error is a gRPC status.
func (r *RPC) call(ctx context.Context, method string, in proto.Message) (any, error) {
	e := &exchange{in: in, model: cmp.Or(textIn(in, "model_name"), textIn(in, "name")), version: cmp.Or(textIn(in, "model_version"), textIn(in, "version"))}
	path := pb.Path(method)
	req := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: path}, Proto: "HTTP/2.0", ProtoMajor: 2, Header: headerOf(ctx), Body: http.NoBody, RequestURI: path,
	}
	if from, ok := peer.FromContext(ctx); ok {
		req.RemoteAddr = from.Addr.String()
	}
	out := &header{fields: http.Header{}}
	r.Router.ServeHTTP(out, req.WithContext(context.WithValue(ctx, exchangeKey{}, e)))
	out.send(ctx)
	switch {
	case e.failure != nil:
		return nil, statusOf(e.failure)
	case ctx.Err() != nil:
		return nil, status.FromContextError(ctx.Err()).Err()
	case e.answer == nil:
		return nil, status.Error(codes.Internal, "there is no answer")
	}
	return e.answer, nil
}

// headerOf converts the metadata of a call to a header.
func headerOf(ctx context.Context) http.Header {
	h := http.Header{}
	fields, _ := metadata.FromIncomingContext(ctx)
	for name, values := range fields {
		if name[0] != ':' && !strings.HasSuffix(name, "-bin") {
			h[http.CanonicalHeaderKey(name)] = values
		}
	}
	return h
}

// header is the [http.ResponseWriter] of an in-process request. The type keeps only the header.
type header struct{ fields http.Header }

func (h *header) Header() http.Header         { return h.fields }
func (h *header) Write(p []byte) (int, error) { return len(p), nil }
func (h *header) WriteHeader(int)             {}

// send sends the header of a call's answer as metadata, without the fields about a body. In a stream send has an effect only
// before the first message.
func (h *header) send(ctx context.Context) {
	fields := metadata.MD{}
	for name, values := range h.fields {
		if name = strings.ToLower(name); !strings.HasPrefix(name, "content-") && name != "connection" {
			fields[name] = values
		}
	}
	_ = grpc.SetHeader(ctx, fields)
}

// statusOf converts a failure to a gRPC error, with the delay before a retry.
func statusOf(f *fault.Failure) error {
	s := status.New(codeOf(f), f.Message)
	if f.Wait > 0 {
		wait := &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Duration(f.Wait) * time.Second)}
		if with, err := s.WithDetails(wait); err == nil {
			s = with
		}
	}
	return s.Err()
}

// Register adds the service to a gRPC server.
func (r *RPC) Register(server grpc.ServiceRegistrar) {
	service := &grpc.ServiceDesc{ServiceName: string(pb.Service().FullName()), Metadata: pb.Service().ParentFile().Path()}
	for i := range pb.Service().Methods().Len() {
		m := pb.Service().Methods().Get(i)
		if m.IsStreamingClient() {
			service.Streams = append(service.Streams, grpc.StreamDesc{StreamName: string(m.Name()), ServerStreams: true, ClientStreams: true,
				Handler: func(_ any, stream grpc.ServerStream) error {
					return r.stream(&grpc.GenericServerStream[pb.ModelInferRequest, pb.ModelStreamInferResponse]{ServerStream: stream})
				}})
		} else {
			service.Methods = append(service.Methods, grpc.MethodDesc{MethodName: string(m.Name()), Handler: r.handler(m)})
		}
	}
	server.RegisterService(service, nil)
}

// handler returns the handler of a unary method.
func (r *RPC) handler(m protoreflect.MethodDescriptor) grpc.MethodHandler {
	return func(_ any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		in := newMessage(m.Input())
		if err := decode(in); err != nil {
			return nil, err
		}
		serve := func(ctx context.Context, _ any) (any, error) { return r.serve(ctx, m, in) }
		if interceptor == nil {
			return serve(ctx, in)
		}
		return interceptor(ctx, in, &grpc.UnaryServerInfo{Server: r, FullMethod: pb.Path(string(m.Name()))}, serve)
	}
}

// serve serves a call. Most methods have the JSON answer of REST, in protobuf's form of JSON.
func (r *RPC) serve(ctx context.Context, m protoreflect.MethodDescriptor, in proto.Message) (answer any, err error) {
	switch m.Name() {
	case "ServerLive":
		answer = gin.H{"live": r.cfg.Live() == nil}
	case "ServerReady":
		answer = gin.H{"ready": r.cfg.Ready() == nil}
	case "ModelReady":
		answer, err = r.readiness(in)
	default:
		answer, err = r.call(ctx, string(m.Name()), in)
	}
	if _, isMessage := answer.(proto.Message); isMessage || err != nil {
		return answer, err
	}
	out := newMessage(m.Output())
	raw, err := json.Marshal(answer)
	if err == nil {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(raw, out)
	}
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return out, nil
}

// readiness serves ModelReady. As with Triton, an unknown model is not ready.
func (r *RPC) readiness(in proto.Message) (any, error) {
	if err := refusal(in); err != nil {
		return nil, statusOf(fault.Explain(err, fault.Situation{}))
	}
	models := r.cfg.Models()
	if models == nil {
		return gin.H{"ready": false}, nil
	}
	_, err := r.findNamed(textIn(in, "name"), textIn(in, "version"), models.Index())
	return gin.H{"ready": err == nil}, nil
}

// infer serves ModelInfer.
func (r *RPC) infer(ctx context.Context, in *pb.ModelInferRequest) (*pb.ModelInferResponse, error) {
	answer, err := r.call(ctx, modelInfer, in)
	if err != nil {
		return nil, err
	}
	return answer.(*pb.ModelInferResponse), nil
}

// together is the maximum number of requests of a stream that are served, or wait to be sent, at the same time.
const together = 64

// stream serves ModelStreamInfer: each request is served separately and answered when it is done; requests of a sequence are served
// in order. Once as many answers as the constant together wait for a client that does not read, the client's requests are not read
// either.
func (r *RPC) stream(stream grpc.BidiStreamingServer[pb.ModelInferRequest, pb.ModelStreamInferResponse]) error {
	var (
		group   sync.WaitGroup
		sending sync.Mutex
		places  = make(chan struct{}, together)
		last    = make(map[string]chan struct{}) // by sequence: closed when its last request is answered
		ctx     = stream.Context()
	)
	defer group.Wait()
	type received struct {
		in  *pb.ModelInferRequest
		err error
	}
	next := make(chan received)
	go func() { // ends with the stream
		for err := error(nil); err == nil; {
			var r received
			r.in, r.err = stream.Recv()
			select {
			case next <- r:
				err = r.err
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		var in *pb.ModelInferRequest
		select {
		case r := <-next:
			switch in = r.in; {
			case errors.Is(r.err, io.EOF): // the client has sent its last request
				return nil
			case r.err != nil:
				return r.err
			}
		case <-r.cfg.Ending.Done():
			return statusOf(fault.New(fault.ShuttingDown, "", "the service is shutting down: try again in a moment"))
		}
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
		before, done := last[sequenceOf(in)], make(chan struct{})
		if id := sequenceOf(in); id != "" {
			if last[id] = done; in.GetParameters()[sequenceEnd].GetBoolParam() || len(last) > mostOrdered {
				maps.DeleteFunc(last, func(other string, answered chan struct{}) bool { return other != id && wait.IsClosed(answered) })
			}
		}
		group.Go(func() {
			defer func() { <-places }()
			defer close(done)
			if before != nil {
				<-before // before is closed at the latest when the stream ends
			}
			out := &pb.ModelStreamInferResponse{}
			answer, err := r.infer(ctx, in)
			if err != nil { // the stream goes on after an error, as with Triton
				out.ErrorMessage, answer = status.Convert(err).Message(), &pb.ModelInferResponse{Id: in.GetId()}
			} else {
				if answer.Parameters == nil {
					answer.Parameters = make(map[string]*pb.InferParameter)
				}
				answer.Parameters["triton_final_response"] = &pb.InferParameter{ParameterChoice: &pb.InferParameter_BoolParam{BoolParam: true}}
			}
			out.InferResponse = answer
			sending.Lock()
			defer sending.Unlock()
			_ = stream.Send(out) // fails if the client has left, which Recv then reports
		})
	}
}

// mostOrdered is the number of a stream's sequences above which idle ones are dropped from last.
const mostOrdered = 1024

// Unserved answers calls of methods that the service does not implement.
func Unserved(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	return status.Error(codes.Unimplemented, unserved(method))
}
