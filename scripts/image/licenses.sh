#!/usr/bin/env bash
# Copies LICENSE, NOTICE, the bundled model's card and the licences of all that is
# linked into the binary into a folder, which the image ships:
#
#   scripts/image/licenses.sh folder
#
# Each Go module has a folder of its own below licenses/, and so has Go. It fails
# where a module has no licence, or is not named in NOTICE.
set -euo pipefail
shopt -s nullglob nocaseglob
export LC_ALL=C

# die prints an error with a remedy in one line, and exits.
die() {
  echo "licenses: $*" >&2
  exit 1
}

(($# == 1)) || die "name the folder to copy to: scripts/image/licenses.sh folder"
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."

# copy copies the licence files of a folder, if it has any, to another folder.
copy() {
  local file files=("$1"/{licen[cs]e,copying,copyright,notice,patents}*)
  for file in "${files[@]}"; do
    case $file in
      *.go) continue ;; # a package's source
    esac
    [[ ! -d $file || ${file,,} == */licen[cs]es ]] || continue
    mkdir -p "$2"
    cp -R "$file" "$2/"
  done
}

cp LICENSE NOTICE "$out/"
cp model/bundled/README.md "$out/MODEL_CARD.md"
copy "$(go env GOROOT)" "$out/licenses/go"

# One line for each linked package: its module, the module's folder and its own. A
# package may have a licence that differs from its module's.
template='{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}	{{.Dir}}	{{$.Dir}}{{end}}{{end}}'
packages=$(go list -tags nomsgpack,grpcnotrace -deps -f "$template" ./app | sort -u)
modules=0 last="" unnamed=()
while IFS=$'\t' read -r module top folder; do
  if [[ $module != "$last" ]]; then
    copy "$top" "$out/licenses/$module"
    [[ -d $out/licenses/$module ]] || die "$module has no licence file: find out how it may be used, or do without it"
    grep -qxF -- "  ${module%@*}" NOTICE || unnamed+=("${module%@*}")
    modules=$((modules + 1)) last=$module
  fi
  while [[ $folder != "$top" ]]; do
    copy "$folder" "$out/licenses/$module${folder#"$top"}"
    folder=$(dirname "$folder")
  done
done <<<"$packages"
((${#unnamed[@]} == 0)) || die "NOTICE does not name ${unnamed[*]}: add each under its licence"
chmod -R u+w "$out" # files in Go's module cache are read-only
echo "the licences of $modules Go modules are in $out"
