#!/usr/bin/env bash
# Has openapi-spec-validator and Redocly look at the OpenAPI documents of a service without a model, mypy and TypeScript at the types of
# the clients in app/client:
#
#   scripts/openapi/check.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/openapi/tools.sh
work=build/openapi
go run ./scripts/openapi "$work"
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
for document in "$work"/openapi.json "$work"/openapi-all.json; do
  "$work/venv/bin/openapi-spec-validator" "$document"
  # The rules that are left out are about style, and warnings.
  log=$(cd "$work" && node_modules/.bin/redocly lint --format=stylish --max-problems=1000 --skip-rule=operation-4xx-response \
    --skip-rule=info-license --skip-rule=no-required-schema-properties-undefined "$(basename "$document")" 2>&1) || { echo "$log" >&2; exit 1; }
done
"$work/venv/bin/mypy" --strict --no-error-summary --cache-dir "$work/mypy" app/client/python/dragoman
"$work/node_modules/.bin/tsc" --noEmit --strict --target es2022 --module nodenext --types node --typeRoots "$work/node_modules/@types" \
  app/client/javascript/index.d.ts
