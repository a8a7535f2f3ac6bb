#!/usr/bin/env bash
# A tool in Go gets another id than the agent sent.
#
# AddTool of the Model Context Protocol's SDK for Go (go-sdk 1.8.0) makes the schema of a tool's arguments from a Go type, and hands them over as
# that type. Between the two, to fill in defaults and to check them, it reads the JSON into Go's any, where a number is a float64 of 53 bits, and
# writes it again. So an int64 or uint64, of which Go programs expect all digits, has lost the last ones: ids of messages
# and database rows (snowflakes), times in nanoseconds, hashes. Small numbers of tests are right, and the tool works on another record.
# Handlers of Server.AddTool, which get the JSON as it came, are not affected, nor is the result.
#
#   AddTool:        1234567890123456789 arrives as 1234567890123456800
#   Server.AddTool: 1234567890123456789 arrives as 1234567890123456789
#
# The script fails if that changes. It needs Go 1.26 and its module proxy.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
cat >go.mod <<'GO'
module probe

go 1.26

require github.com/modelcontextprotocol/go-sdk v1.8.0
GO
cat >main.go <<'GO'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type arguments struct {
	ID int64 `json:"id"`
}

const id = 1234567890123456789

func main() {
	ctx := context.Background()
	var typed, raw arguments
	server := mcp.NewServer(&mcp.Implementation{Name: "server", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "typed"}, func(_ context.Context, _ *mcp.CallToolRequest, in arguments) (*mcp.CallToolResult, any, error) {
		typed = in
		return nil, nil, nil
	})
	server.AddTool(&mcp.Tool{Name: "raw", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, json.Unmarshal(r.Params.Arguments, &raw)
	})
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, here, nil); err != nil {
		panic(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, there, nil)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"typed", "raw"} {
		if result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments{id}}); err != nil || result.IsError {
			panic(fmt.Sprint(err, result))
		}
	}
	fmt.Printf("AddTool:        %d arrives as %d\nServer.AddTool: %d arrives as %d\n", id, typed.ID, id, raw.ID)
	if typed.ID != 1234567890123456800 || raw.ID != id {
		fmt.Println("other numbers than were seen")
		os.Exit(1)
	}
}
GO
GOFLAGS=-mod=mod GOPATH=$work/go go run . 2>go.log || { cat go.log >&2; exit 1; }
