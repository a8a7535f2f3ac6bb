#!/usr/bin/env bash
# Stands in for the programs that the examples of the documentation call. It runs dragoman and curl as they
# are, against the test's service or the one that the example has started, and checks of the others what can
# be checked offline. An ID is that of what was made before; its job has ended.
set -euo pipefail
last=$SANDBOX/last
made() { [[ ! -s $last ]] || cat "$last"; }

# there fails where a path of the repository that an argument names is not there.
there() {
  local path
  for path; do
    [[ -e $ROOT/$path ]] || { echo "there is no $path" >&2; exit 1; }
  done
}

# serve starts what serves, and returns when it is ready.
serve() {
  local port=$OWN_PORT said='"msg":"ready"'
  [[ ${ROLE:-all} != worker ]] || port=0
  [[ ${ROLE:-all} == all ]] || said='"msg":"listening"'
  : >"$SANDBOX/log.$$" # before tail looks for it
  APP_HOST=127.0.0.1 APP_PORT=$port "$PROGRAM" serve 2>>"$SANDBOX/log.$$" </dev/null >/dev/null &
  echo $! >>"$SANDBOX/pids"
  grep -q -m1 "$said" <(tail -n +1 -f --pid=$! "$SANDBOX/log.$$") || { cat "$SANDBOX/log.$$" >&2; exit 1; }
  [[ $port == 0 ]] || echo "$port" >"$SANDBOX/port"
}

name=$(basename "$0")
case $name in
  dragoman)
    [[ $# -gt 0 && $1 != serve ]] || { serve; exit; }
    [[ $1 != monitor ]] || set -- "$@" --count 1
    args=()
    for arg; do
      [[ $arg != ID ]] || arg=$(made)
      args+=("$arg")
    done
    "$PROGRAM" "${args[@]}" | tee "$SANDBOX/out"
    [[ "$1 ${2:-}" != "glossaries add" ]] || cp "$SANDBOX/out" "$last"
    ;;
  curl)
    port=$APP_PORT
    [[ ! -s $SANDBOX/port ]] || port=$(cat "$SANDBOX/port")
    args=()
    for arg; do
      if [[ $arg == */ID/* ]]; then
        arg=${arg//\/ID\//\/$(made)\/}
        /usr/bin/curl -sN -o /dev/null "http://127.0.0.1:$port/jobs/$(made)/events" # until its end
      fi
      [[ ! $arg =~ \"glossaryId\":\ \"([^\"]*)\" ]] || arg=${arg//${BASH_REMATCH[1]}/$(made)}
      args+=("$arg")
    done
    /usr/bin/curl -sS --fail-with-body --connect-to "localhost:9527:127.0.0.1:$port" "${args[@]}" | tee "$SANDBOX/out"
    id=$(grep -o '"id": *"[^"]*"' "$SANDBOX/out" | head -1 | sed 's/.*"\(.*\)"/\1/' || true)
    [[ -z $id ]] || echo "$id" >"$last"
    ;;
  make) make=$(PATH=${PATH#*:} command -v make) && "$make" -C "$ROOT" -n "$@" >/dev/null ;;
  go)
    for arg; do
      [[ $arg != ./* ]] || there "${PWD#"$SANDBOX"}/$arg"
    done
    ;;
  kubectl)
    while (($# > 0)); do
      [[ $1 != -[fk] ]] || there "$2"
      shift
    done
    ;;
  openssl) printf '%064d\n' 0 ;;
  captions) printf 'Where is the station? Thank you.\n' ;;
  git) echo v1.0.0 ;;
  docker | redis-server | pip | npm | npx | sudo) ;; # there is none, or nothing for it
  *) there "${0#"$SANDBOX"/}" ;; # a script of the repository
esac
