#!/usr/bin/env bash
# Agents lose the tools of a Model Context Protocol server when it is restarted, until they are restarted themselves.
#
# A server with sessions answers requests of a session that it does not know, as after a restart or behind a load balancer, with 404, and the
# client "MUST start a new session" then, says the protocol (Streamable HTTP, 2025-03-26 and later). No client of the three official SDKs does:
# mcp 2.3.0 of Python, @modelcontextprotocol/sdk 1.32.2 of npm and go-sdk 1.8.0 fail at this call and at every further one, although a new client
# is served at once. So each deployment of such a server breaks all agents that run; a server needs to do without sessions (Stateless), or
# agents must connect anew after an error.
#
#   Python: ok | restart | Session terminated | Session terminated
#   Node.js: ok | restart | session not found | session not found
#   Go: ok | restart | session not found | session not found
#
# The script fails if that changes. It needs Go 1.26 with its module proxy, Python 3.11, PyPI, Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check mcp==2.3.0
cd "$work"
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2
cat >go.mod <<'GO'
module probe

go 1.26

require github.com/modelcontextprotocol/go-sdk v1.8.0
GO
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if os.Args[1] == "serve" {
		server := mcp.NewServer(&mcp.Implementation{Name: "server", Version: "1"}, nil)
		mcp.AddTool(server, &mcp.Tool{Name: "ping"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, struct{}, error) {
			return nil, struct{}{}, nil
		})
		panic(http.ListenAndServe(os.Args[2], mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)))
	}
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: os.Args[2]}, nil)
	if err != nil {
		panic(err)
	}
	for range 3 {
		if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "ping", Arguments: map[string]any{}}); err != nil {
			fmt.Printf("%q\n", err.Error())
		} else {
			fmt.Println("ok")
		}
		fmt.Scanln()
	}
}
GO
cat >call.mjs <<'JS'
import { createInterface } from 'node:readline/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const lines = createInterface({ input: process.stdin })
const client = new Client({ name: 'client', version: '1' })
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])))
for (let i = 0; i < 3; i++) {
  console.log(await client.callTool({ name: 'ping' }).then(() => 'ok', (error) => JSON.stringify(error.message)))
  await lines.question('')
}
process.exit()
JS
cat >call.py <<'PYTHON'
import asyncio
import sys

from mcp import Client, MCPError


async def main():
    async with Client(sys.argv[1]) as client:
        for _ in range(3):
            try:
                await client.call_tool("ping", {})
                print("ok", flush=True)
            except MCPError as error:
                print(repr(str(error)), flush=True)
            await asyncio.to_thread(sys.stdin.readline)


asyncio.run(main())
PYTHON
cat >restart.py <<'PYTHON'
import socket
import subprocess
import time

with socket.create_server(("127.0.0.1", 0)) as listener:
    port = listener.getsockname()[1]


def serve():
    server = subprocess.Popen(["./probe", "serve", f"127.0.0.1:{port}"])
    while socket.socket().connect_ex(("127.0.0.1", port)):
        time.sleep(0.1)
    return server


seen = "Session terminated", "session not found", "session not found"
for (name, program), error in zip({"Python": ["venv/bin/python", "call.py"], "Node.js": ["node", "call.mjs"], "Go": ["./probe", "call"]}.items(), seen):
    server = serve()
    client = subprocess.Popen([*program, f"http://127.0.0.1:{port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    answers = [client.stdout.readline().strip()]
    server.kill()
    server.wait()
    server = serve()
    for _ in range(2):
        client.stdin.write("\n")
        client.stdin.flush()
        answer = client.stdout.readline().strip()
        answers.append(error if error in answer else answer)
    print(f"{name}: {answers[0]} | restart | {' | '.join(answers[1:])}")
    client.kill()
    fresh = subprocess.Popen([*program, f"http://127.0.0.1:{port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert fresh.stdout.readline().strip() == "ok"
    fresh.kill()
    server.kill()
    server.wait()
    assert answers == ["ok", error, error], "other answers than were seen"
PYTHON
GOFLAGS=-mod=mod GOPATH=$work/go go build -o probe . 2>go.log || { cat go.log >&2; exit 1; }
venv/bin/python restart.py
