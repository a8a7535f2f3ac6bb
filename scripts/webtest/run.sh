#!/usr/bin/env bash
# Tests the web page in Chromium:
#
#   scripts/webtest/run.sh                       against a made-up API (fake.mjs)
#   BASE_URL=http://localhost:9527 scripts/webtest/run.sh
#                                                against a service with the bundled model
#
# Arguments go to Node's test runner, such as --test-name-pattern=swap. Screenshots go
# to build/webtest. Chromium comes from the distribution (apt, as root), or is the one
# that CHROMIUM names; the rest comes from npm.
set -euo pipefail
cd "$(dirname "$0")/../.."

die() {
  echo "webtest: $*" >&2
  exit 1
}

scripts/needs.sh npm nodejs npm
if [[ -z ${CHROMIUM:-} ]]; then
  # The fonts are for the screenshots: Latin and Arabic, Japanese.
  scripts/needs.sh chromium chromium fonts-dejavu-core fonts-ipafont-gothic
  CHROMIUM=$(command -v chromium)
fi
export CHROMIUM

if ! cmp -s scripts/webtest/package-lock.json scripts/webtest/node_modules/.from-lock; then
  (cd scripts/webtest && npm ci --ignore-scripts --no-audit --no-fund >&2)
  cp scripts/webtest/package-lock.json scripts/webtest/node_modules/.from-lock
fi

tests=(node --test --test-concurrency=1 --test-reporter=spec "$@" scripts/webtest/*.test.mjs)
if [[ -n ${BASE_URL:-} ]]; then
  exec "${tests[@]}"
fi
scripts/needs.sh curl curl
make --silent build runtime
mkdir -p build/webtest
log=build/webtest/service.log
: >"$log" # the address of the service before is in it
APP_HOST=127.0.0.1 APP_PORT=0 JOB_FILE=$(mktemp -u) GLOSSARY_FILE=$(mktemp -u) MEMORY_FILE=$(mktemp -u) build/dragoman serve 2>"$log" &
service=$!
trap 'kill $service' EXIT
until address=$(sed -n 's/.* msg=listening address=\([^ ]*\).*/\1/p' "$log") && [[ -n $address ]]; do
  kill -0 $service || die "the service ended: $(tail -n 3 "$log")"
  sleep 0.1
done
export PAGE_URL=http://$address
curl -fsS --retry 60 --retry-delay 1 --retry-all-errors "$PAGE_URL/readyz" >/dev/null || die "the service did not become ready"
"${tests[@]}"
