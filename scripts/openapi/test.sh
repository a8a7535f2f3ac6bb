#!/usr/bin/env bash
# Has generators make clients of the native API, compiles them, and translates a text, a job and a document with each, against
# build/dragoman with its bundled model:
#
#   scripts/openapi/test.sh
#
# OpenAPI Generator (Go, Python, TypeScript), oapi-codegen, openapi-python-client, openapi-typescript. Needs Go, python3, npm, Java and
# Maven, which it installs as root. What it makes is in build/openapi/clients.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/needs.sh java default-jre-headless
scripts/needs.sh mvn maven
scripts/openapi/tools.sh
work=$PWD/build/openapi
clients=$work/clients
here=$PWD/scripts/openapi/testdata
python=$work/venv/bin/python
generator=7.25.0
oapi=github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
export GOFLAGS=-mod=mod

jar=$work/openapi-generator-cli-$generator.jar
[[ -f $jar ]] || mvn -q dependency:copy "-Dartifact=org.openapitools:openapi-generator-cli:$generator" "-DoutputDirectory=$work"
[[ $(cat "$work/oapi" 2>/dev/null) == "$oapi" ]] || { GOBIN=$work go install "$oapi" && echo "$oapi" >"$work/oapi"; }

rm -rf "$clients"
mkdir -p "$clients"
scripts/openapi/serve.sh "$clients/service" &
service=$!
trap 'kill "$service" 2>/dev/null; wait "$service" || true' EXIT
until [[ -s $clients/service/url ]]; do
  kill -0 "$service"
  sleep 0.1
done
url=$(cat "$clients/service/url")
curl -fsS "$url/openapi.json" -o "$clients/openapi.json"

# generate makes a client with OpenAPI Generator, in a language, in a folder.
generate() {
  java -jar "$jar" generate --input-spec "$clients/openapi.json" --generator-name "$1" --output "$clients/$2" "${@:3}" >"$clients/$2.log" 2>&1 ||
    { cat "$clients/$2.log" >&2; exit 1; }
}

echo "OpenAPI Generator, Go"
generate go go --git-host example.com --git-user-id dragoman --git-repo-id client --additional-properties=packageName=dragoman
rm -rf "$clients/go/test" # stubs
install -D "$here/generator/main.go" "$clients/go/cmd/main.go"
(cd "$clients/go" && go mod tidy >/dev/null 2>&1 && go vet ./... && go run ./cmd "$url")

echo "OpenAPI Generator, Python"
generate python python --additional-properties=packageName=dragoman_generated
"$python" -m pip install --quiet --disable-pip-version-check --target "$clients/python/installed" "$clients/python"
PYTHONPATH=$clients/python/installed "$python" "$here/generator.py" "$url"

echo "OpenAPI Generator, TypeScript"
generate typescript-fetch fetch --additional-properties=importFileExtension=.js
echo "openapi-typescript"
"$work/node_modules/.bin/openapi-typescript" "$clients/openapi.json" --output "$clients/schema.d.ts" >"$clients/schema.log" 2>&1
cp "$here"/*.ts "$work/package.json" "$clients/"
(cd "$clients" && "$work/node_modules/.bin/tsc" --strict --noUncheckedIndexedAccess --target es2022 --module nodenext --skipLibCheck \
  --rewriteRelativeImportExtensions --types node --typeRoots "$work/node_modules/@types" --outDir js fetch.ts types.ts)
cp "$work/package.json" "$clients/js/"
node "$clients/js/fetch.js" "$url"
node "$clients/js/types.js" "$url"

echo "oapi-codegen"
install -D "$here/oapicodegen/main.go" "$clients/oapi/main.go"
mkdir "$clients/oapi/api"
"$work/oapi-codegen" -generate types,client -package api -o "$clients/oapi/api/api.go" "$clients/openapi.json"
(cd "$clients/oapi" && go mod init example.com/dragoman/client >/dev/null 2>&1 && go mod tidy >/dev/null 2>&1 && go vet ./... && go run . "$url")

echo "openapi-python-client"
PATH=$work/venv/bin:$PATH openapi-python-client generate --path "$clients/openapi.json" --output-path "$clients/python-client" >"$clients/python-client.log" 2>&1
PYTHONPATH=$clients/python-client "$python" "$here/python_client.py" "$url"
