#!/usr/bin/env bash
# Builds the image and tries it, without a container engine:
#
#   scripts/image/test.sh
#
# buildah builds it in a chroot; scripts/image/try.sh then runs the image's root as
# the user, with the environment and the commands that its configuration says, on a
# read-only root and in a network of its own that leads nowhere. Needs root and
# Debian 12; installs buildah, debootstrap, jq and iproute2 where they are missing.
#
# Environment:
#
#   TARGET         cpu (default); cuda is tried on the CPU
#   IMAGE_BASES    debian (default): stand-ins made by scripts/image/bases.sh;
#                  pull: the Dockerfile's own, from their registries
#   IMAGE_STORAGE  folder for images, kept for the next run (/var/tmp/dragoman-image)
#   BUILD_CA, BUILD_ENV, BUILD_PIP as for scripts/image/build.sh; by default what
#                  this machine's Go, pip and OpenSSL are set to
set -euo pipefail
cd "$(dirname "$0")/../.."

# die prints an error with a remedy in one line, and exits.
die() {
  echo "image-test: $*" >&2
  exit 1
}

((EUID == 0)) || die "cannot run: it needs root, for chroot and namespaces"
grep -qs '^VERSION_CODENAME=bookworm$' /etc/os-release || [[ ${IMAGE_BASES:-} == pull ]] || die "cannot run: it needs Debian 12, or IMAGE_BASES=pull"
for tool in buildah debootstrap jq ip:iproute2 curl; do
  scripts/needs.sh "${tool%:*}" "${tool#*:}"
done

storage=${IMAGE_STORAGE:-/var/tmp/dragoman-image}
mkdir -p "$storage"
scratch=$(mktemp -d)
container=""
# cleanup leaves the base images and the image that was built, for a next run and for a look.
cleanup() {
  [[ -z $container ]] || buildah rm "$container" >/dev/null
  buildah rmi --prune >/dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap cleanup EXIT
cat >"$scratch/storage.conf" <<CONF
[storage]
driver = "vfs"
graphroot = "$storage/images"
runroot = "$storage/run"
CONF
export CONTAINERS_STORAGE_CONF=$scratch/storage.conf

# This machine's settings for registries, as secrets of the build.
if [[ -z ${BUILD_ENV:-} ]]; then
  BUILD_ENV=$scratch/env
  for name in GOPROXY GOSUMDB GONOSUMDB GONOPROXY GOPRIVATE GOINSECURE; do
    printf '%s=%q\n' "$name" "$(go env "$name")"
  done >"$BUILD_ENV"
  env | sed -n 's/^\(PIP_INDEX_URL\|PIP_EXTRA_INDEX_URL\|PIP_DEFAULT_TIMEOUT\)=\(.*\)$/\1=\x27\2\x27/p' >>"$BUILD_ENV"
fi
if [[ -z ${BUILD_CA:-} && -r ${SSL_CERT_FILE:-} ]]; then
  BUILD_CA=$SSL_CERT_FILE
fi
if [[ -z ${BUILD_PIP:-} ]]; then
  for file in "${PIP_CONFIG_FILE:-}" "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf" /etc/pip.conf; do
    [[ ! -r $file ]] || { BUILD_PIP=$file && break; }
  done
fi
export BUILD_CA BUILD_ENV BUILD_PIP

case ${IMAGE_BASES:-debian} in
  debian)
    scripts/image/bases.sh
    bases=(--pull-never)
    for base in $(sed -n 's/^ARG \([A-Z]*_IMAGE=[^@]*\).*/\1/p' Dockerfile); do
      bases+=(--build-arg "$base") # a stand-in has no digest
    done
    ;;
  pull) bases=(--pull) ;;
  *) die "IMAGE_BASES=$IMAGE_BASES: use debian or pull" ;;
esac

target=${TARGET:-cpu}
image=localhost/dragoman-test:$target
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo dev)}
start=$SECONDS
IMAGE_ENGINE=buildah TARGET=$target IMAGE=$image VERSION=$version scripts/image/build.sh \
  --isolation=chroot --network=host "${bases[@]}" >"$scratch/build.log" 2>&1 ||
  { tail -n 40 "$scratch/build.log" >&2; die "the build failed, see above"; }
echo "built in $((SECONDS - start)) s"

container=$(buildah from --pull-never "$image")
root=$(buildah mount "$container")
buildah inspect --type image "$image" >"$scratch/image.json"
TARGET=$target unshare --mount --net scripts/image/try.sh "$root" "$scratch/image.json" "$version"

# Sizes, as bytes of files and as what is sent over the network.
buildah push --quiet "$image" "oci:$scratch/oci" >/dev/null
megabytes() { du -s --apparent-size --block-size=1 "$@" | awk '{ sum += $1 } END { printf "%.1f MB", sum / 1e6 }'; }
echo "size: $(megabytes "$root") unpacked, $(megabytes "$scratch/oci") compressed"
echo "  program   $(megabytes "$root/usr/local/bin")"
echo "  libraries $(megabytes "$root/usr/local/lib")"
echo "  model     $(megabytes "$root/usr/local/share/dragoman")"
echo "  licences  $(megabytes "$root/usr/share/doc/dragoman")"
echo "image-test: passed"
