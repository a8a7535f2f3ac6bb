#!/usr/bin/env bash
# Downloads the packages of packages.txt by the clients of their registries, and collects the files in them:
#
#   scripts/files/fetch.sh
#
# Packages are in build/files/packages, files in build/files/corpus, a folder for each extension. What is there is not fetched again.
# A package that its registry no longer has is named and left out.
set -uo pipefail
cd "$(dirname "$0")/../.."
work=$PWD/build/files packages=$PWD/build/files/packages
mkdir -p "$packages" "$work/apt/lists/partial"

# Debian's sources come from where its packages do.
sources=(/etc/apt/sources.list.d/debian.sources)
apt=(apt-get -qq -o APT::Sandbox::User=root)
if [[ -f ${sources[0]} ]]; then
  sed 's/^Types: .*/Types: deb deb-src/' "${sources[@]}" >"$work/apt/files.sources"
  apt+=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$work/apt" -o "Dir::State::Lists=$work/apt/lists")
fi

# get downloads a package into the current folder.
get() {
  case $1 in
    source) "${apt[@]}" source --download-only "$2=$3" || ls -- *.orig*.tar.* ;; # without the patches, if only those are gone
    deb) "${apt[@]}" download "$2=$3" ;;
    pypi) "${PYTHON:-python3}" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "$2" "$2==$3" ;;
    npm) npm pack --silent "$2@$3" ;;
    maven) mvn -q -B dependency:copy -Dartifact="$2" -DoutputDirectory=. ;;
  esac
}

updated=
while read -r registry name version; do
  folder=$packages/$registry-$(tr -c 'A-Za-z0-9.\n-' _ <<<"$name-${version:-}")
  [[ $registry == '#'* || -f $folder/fetched ]] && continue
  if [[ -z $updated ]]; then
    "${apt[@]}" update >/dev/null || true
    updated=1
  fi
  rm -rf "$folder" && mkdir "$folder"
  if (cd "$folder" && timeout 300 bash -c "$(declare -p apt); $(declare -f get); get $registry '$name' '${version:-}'") >"$folder.log" 2>&1 </dev/null; then
    touch "$folder/fetched"
  else
    echo "files: $registry has no $name ${version:-}: $(tail -n 1 "$folder.log")" >&2
  fi
done < <(grep -v '^#' scripts/files/packages.txt)
"${PYTHON:-python3}" scripts/files/collect.py "$packages" "$work/corpus"
