#!/usr/bin/env bash
# A gRPC error with a long message reaches Python as another error, sometimes.
#
# A gRPC status, with its message and details, travels in a header, percent-encoded: a Chinese character takes nine bytes. grpc-go 1.83.2 sends
# headers of any size, and @grpc/grpc-js 1.14.7 takes them. The core of gRPC that Python, C++, Ruby and PHP share (grpcio 1.85.3) has a
# soft limit of 8 KB, above which it refuses an answer by chance, the more often the longer, and a hard limit of 16 KB. So a server's
# INVALID_ARGUMENT that names the faulty fields is now INVALID_ARGUMENT, which ends a request, now RESOURCE_EXHAUSTED, which retry
# policies repeat and which does not have the message. Tests with short messages, and most with long ones, pass.
#
#   Python, 100 requests each:
#   1,000 letters      -> INVALID_ARGUMENT
#   12,000 letters     -> INVALID_ARGUMENT or RESOURCE_EXHAUSTED
#   1,300 characters 错 -> INVALID_ARGUMENT or RESOURCE_EXHAUSTED
#   20,000 letters     -> INTERNAL
#   Node.js: INVALID_ARGUMENT, with the whole message
#
# The script fails if that changes. It needs Go 1.26 with its module proxy, Python 3.11, PyPI, Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait || true; chmod -R u+w "$work"; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check grpcio==1.85.3
cd "$work"
npm install --silent --no-audit --no-fund @grpc/grpc-js@1.14.7
cat >go.mod <<'GO'
module probe

go 1.26

require google.golang.org/grpc v1.83.2
GO
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

type server struct {
	grpc_health_v1.UnimplementedHealthServer
}

// Check answers with an error that has the request's text.
func (server) Check(_ context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	return nil, status.Error(codes.InvalidArgument, r.Service)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	s := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(s, server{})
	panic(s.Serve(listener))
}
GO
GOFLAGS=-mod=mod GOPATH=$work/go go build -o server . 2>go.log || { cat go.log >&2; exit 1; }
./server >address &
server=$!
until [[ -s address ]]; do sleep 0.1; done
cat >ask.py <<'PYTHON'
import sys

import grpc

method = grpc.insecure_channel(sys.argv[1]).unary_unary("/grpc.health.v1.Health/Check")


def length(n):  # as protobuf writes it
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + length(n >> 7)


def code(text):
    field = text.encode()
    try:
        method(b"\n" + length(len(field)) + field)
    except grpc.RpcError as error:
        assert error.code() != grpc.StatusCode.INVALID_ARGUMENT or error.details() == text
        return error.code().name


seen = {"x" * 1000: ["INVALID_ARGUMENT"], "x" * 12000: ["INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"], "错" * 1300: ["INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"],
        "x" * 20000: ["INTERNAL"]}
for text, expected in seen.items():
    found = sorted({code(text) for _ in range(100)})
    print(f"Python, {len(text)} times {text[0]}: {' or '.join(found)}")
    assert found == expected, "other codes than were seen"
PYTHON
cat >ask.mjs <<'JS'
import assert from 'node:assert/strict'
import grpc from '@grpc/grpc-js'

const same = (bytes) => bytes
const Health = grpc.makeClientConstructor({ Check: { path: '/grpc.health.v1.Health/Check', requestSerialize: same, responseDeserialize: same } })
const client = new Health(process.argv[2], grpc.credentials.createInsecure())
const text = Buffer.concat([Buffer.from([10, 0xa0, 0x9c, 1]), Buffer.alloc(20000, 'x')])
client.Check(text, (error) => {
  console.log(`Node.js, ${error.details.length} times x: ${grpc.status[error.code]}`)
  assert.deepEqual([error.code, error.details.length], [grpc.status.INVALID_ARGUMENT, 20000])
  client.close()
})
JS
venv/bin/python ask.py "$(cat address)"
node ask.mjs "$(cat address)"
