#!/usr/bin/env bash
# Makes stand-ins for the Dockerfile's base images of Debian's packages, where the
# real ones cannot be had, and gives them the names that the Dockerfile uses:
#
#   scripts/image/bases.sh
#
# For scripts/image/test.sh, which keeps them in a storage of their own: they are
# nothing to ship. Needs root, Debian 12, buildah and debootstrap. CONTAINERS_STORAGE_CONF
# says where images are. What is there already is not made again.
#
#   GO_IMAGE       Debian with a C compiler, and this machine's Go
#   PYTHON_IMAGE   Debian with Python and pip
#   RUNTIME_IMAGE  the packages that distroless/cc is made of, and nothing else
#   CUDA_IMAGE     the same as RUNTIME_IMAGE: it has no CUDA, so that the cuda target
#                  can be built and tried on CPUs only
set -euo pipefail
cd "$(dirname "$0")/../.."

# die prints an error with a remedy in one line, and exits.
die() {
  echo "bases: $*" >&2
  exit 1
}

suite=bookworm
grep -qx "VERSION_CODENAME=$suite" /etc/os-release ||
  die "this is not Debian 12: its packages would not be those of the base images"
[[ -n ${CONTAINERS_STORAGE_CONF:-} ]] || die "set CONTAINERS_STORAGE_CONF: stand-ins do not belong among real images"

# base prints the default of one of the Dockerfile's arguments, without the digest, which a stand-in has not.
base() { sed -n "s/^ARG $1=\([^@]*\).*/\1/p" Dockerfile; }

# have says whether an image is there.
have() { buildah inspect --type image "$1" >/dev/null 2>&1; }

# compose makes an image. The function named second fills its root, and the other arguments are options of
# buildah config.
compose() {
  local name=$1 fill=$2 root
  shift 2
  if have "$name"; then
    return
  fi
  echo "making a stand-in for $name" >&2
  container=$(buildah from scratch)
  root=$(buildah mount "$container")
  "$fill" "$root"
  buildah config "$@" "$container"
  buildah unmount "$container" >/dev/null
  buildah commit --quiet --rm "$container" "$name" >/dev/null
  container=""
}

# debian installs Debian with some packages (commas between) into a root.
debian() {
  debootstrap --variant=minbase --include="$2" "$suite" "$1" >"$log" 2>&1 ||
    die "debootstrap failed: $(tail -n 3 "$log" | tr '\n' ' ')"
  rm -rf "$1"/var/cache/apt/archives/*.deb "$1"/var/lib/apt/lists/*
}

fill_go() {
  debian "$1" ca-certificates,gcc,libc6-dev
  cp -a "$(go env GOROOT)" "$1/usr/local/go"
  mkdir -p "$1/go"
}

fill_python() { debian "$1" ca-certificates,python3,python3-pip; }

# fill_runtime unpacks packages without running their scripts, as distroless does.
fill_runtime() {
  local root=$1 packages=(base-files ca-certificates gcc-12-base libc6 libgcc-s1 libgomp1 libssl3 libstdc++6 netbase tzdata)
  (cd "$scratch" && apt-get download -q "${packages[@]}" >"$log" 2>&1) ||
    die "apt could not fetch the packages: $(tail -n 3 "$log" | tr '\n' ' ')"
  for package in "$scratch"/*.deb; do
    dpkg-deb --extract "$package" "$root"
  done
  mkdir -p "$root/etc/ssl/certs"
  cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
  printf '%s\n' root:x:0:0:root:/root:/sbin/nologin nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin \
    nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin >"$root/etc/passwd"
  printf '%s\n' root:x:0: nobody:x:65534: nonroot:x:65532: >"$root/etc/group"
  install -d -m 0700 -o 65532 -g 65532 "$root/home/nonroot"
  # Files that need a shell, or that no program needs.
  rm -rf "${root:?}"/usr/{bin,sbin}/* "$root"/usr/share/{man,info,lintian,bug}
}

scratch=$(mktemp -d)
log=$scratch/log
container="" # the one that is being filled
trap '[[ -z $container ]] || buildah rm "$container" >/dev/null; rm -rf "$scratch"' EXIT
chmod 0755 "$scratch" # apt drops its privileges to fetch

path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
compose "$(base GO_IMAGE)" fill_go --env GOPATH=/go --env GOTOOLCHAIN=local --env "PATH=/go/bin:/usr/local/go/bin:$path"
compose "$(base PYTHON_IMAGE)" fill_python --env "PATH=$path"
compose "$(base RUNTIME_IMAGE)" fill_runtime --env "PATH=$path" --env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
  --user 65532 --workingdir /home/nonroot
have "$(base CUDA_IMAGE)" || buildah tag "$(base RUNTIME_IMAGE)" "$(base CUDA_IMAGE)"
