#!/usr/bin/env bash
# Builds the container image with docker, podman or buildah, whichever is there:
#
#   scripts/image/build.sh [options for the engine's build...]
#
# Environment:
#
#   TARGET        cpu (default) or cuda
#   VERSION       written into the binary and the labels (default: git describe)
#   IMAGE         name and tag (default: dragoman:VERSION without its v; dragoman-cuda for that target)
#   IMAGE_ENGINE  docker, podman or buildah (default: the first that works)
#   BUILD_CA      file of CA certificates, where the network has its own
#   BUILD_ENV     file of shell assignments for the build, such as GOPROXY=...
#   BUILD_PIP     pip.conf for the build
#
# The three files are secrets of the build: nothing of them is left in the image.
# Times in the image are those of the last commit, so that podman and buildah
# make the same layers of the same commit and base images again.
set -euo pipefail
cd "$(dirname "$0")/../.."

# die prints an error with a remedy in one line, and exits.
die() {
  echo "build: $*" >&2
  exit 1
}

# engine prints the engine to use.
engine() {
  if [[ -n ${IMAGE_ENGINE:-} ]]; then
    command -v "$IMAGE_ENGINE" >/dev/null || die "IMAGE_ENGINE=$IMAGE_ENGINE is not installed"
    echo "$IMAGE_ENGINE"
  elif command -v docker >/dev/null && docker info >/dev/null 2>&1; then
    echo docker
  elif command -v podman >/dev/null; then
    echo podman
  elif command -v buildah >/dev/null; then
    echo buildah
  else
    die "none of docker, podman and buildah is there (or docker's engine does not run): install one of them"
  fi
}

target=${TARGET:-cpu}
[[ $target == cpu || $target == cuda ]] || die "TARGET=$target: use cpu or cuda"
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo dev)}
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
epoch=$(git log -1 --format=%ct 2>/dev/null || echo 0)
tag=${version#v}
tag=${tag//+/-} # a tag has no plus
name=dragoman
[[ $target == cpu ]] || name+=-$target
image=${IMAGE:-$name:$tag}

options=(--target "$target" --tag "$image" --build-arg "VERSION=$version" --build-arg "REVISION=$revision")
for secret in ca:BUILD_CA env:BUILD_ENV pip:BUILD_PIP; do
  variable=${secret#*:} file=
  file=${!variable:-}
  [[ -n $file ]] || continue
  [[ -r $file ]] || die "$variable=$file: there is no such file, or it cannot be read"
  options+=(--secret "id=${secret%:*},src=$file")
done

engine=$(engine)
case $engine in
  docker) DOCKER_BUILDKIT=1 docker build "${options[@]}" --build-arg "SOURCE_DATE_EPOCH=$epoch" "$@" . ;;
  # The OCI format has no health check, docker's has.
  podman | buildah) "$engine" build --format docker --timestamp "$epoch" "${options[@]}" "$@" . ;;
  *) die "IMAGE_ENGINE=$engine: use docker, podman or buildah" ;;
esac
echo "built $image ($target) with $engine"
