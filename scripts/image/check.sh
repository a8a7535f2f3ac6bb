#!/usr/bin/env bash
# Checks the Dockerfile without building an image: what its steps copy is in the build context, what
# the program is compiled of is copied, and the steps of its stage "build" work here. Those are run in
# the source tree, with what is compiled for tests: seconds, where scripts/image/test.sh takes minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."

# die prints an error in one line, and exits.
die() {
  echo "image-check: $*" >&2
  exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The context has git's files without those of .dockerignore, whose patterns begin at the root.
sed -E '/^#/d; s#^(!?)([^*!]|\*$)#\1/\2#' .dockerignore >"$scratch/ignored"
git ls-files -co --exclude-standard | sort >"$scratch/files"
git ls-files -ci --exclude-from="$scratch/ignored" | sort | comm -23 "$scratch/files" - >"$scratch/context"

# steps prints the instructions of a stage, or of all, each on a line.
steps() {
  sed -e '/^ *#/d' -e ':more' -e '/\\$/{N;s/\\\n *//;b more' -e '}' Dockerfile |
    awk -v stage="${1:-}" '$1 == "FROM" { here = stage == "" || $NF == stage } here'
}

# copied prints the files of the context that the COPY of a stage takes.
copied() {
  local source sources
  while read -ra sources; do
    for source in "${sources[@]:1:${#sources[@]}-2}"; do
      grep -E "^${source//./\\.}(/|$)" "$scratch/context" || die "COPY $source: there is no such file in the context (.dockerignore)"
    done
  done < <(steps "$1" | grep '^COPY [^-]')
}

copied "" >/dev/null
copied build | sort >"$scratch/copied"
# The files of this module that the compiler reads.
files='{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.CgoFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.CFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.HFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.SFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.EmbedFiles}}{{$.Dir}}/{{.}}
{{end}}{{end}}{{end}}'
missing=$(go list -deps -f "$files" ./app | sed -n "s#^$PWD/##p" | sort | comm -23 - "$scratch/copied" | tr '\n' ' ')
[[ -z $missing ]] || die "the program is compiled of what the stage build does not copy: $missing"

# Without -trimpath, packages that were compiled for tests are reused.
steps build | sed -n 's/^RUN //p' | sed -E "s#--mount=[^ ]+ *##g; s#/out\b#$scratch/out#g; s#-trimpath ##" >"$scratch/run"
[[ -s $scratch/run ]] || die "the Dockerfile has no stage build"
while read -r step; do
  VERSION=check bash -c "$step" || die "this step of the Dockerfile fails: $step"
done <"$scratch/run"
# A method that is called by its name (reflect's MethodByName; text/template) keeps all methods of all types in the program: 13 MB.
size=$(stat -c %s "$scratch/out/program/usr/local/bin/dragoman")
((size <= 85000000)) || die "the program has $size bytes, more than 85 MB: look for what keeps methods with go build -ldflags=-dumpdep ./app 2>&1 | grep ReflectMethod"
echo "the Dockerfile's steps work; the program has $((size / 1000000)) MB"
