#!/usr/bin/env bash
# Makes archives twice and compares them, then tries each:
#
#   scripts/release/test.sh [platform...]      (as for build.sh)
#
# The second time nothing that is compiled is taken from the first. Linux's amd64 is tried in a root that
# has nothing but its C and C++ libraries, arm64 in qemu, Windows' in Wine; macOS' cannot be tried here.
# The packages of linux-amd64 are installed from their files, into a venv, a prefix of npm, a root of dpkg's and a
# folder as Homebrew's, and tried there; those of the others have to have the files of the archive. With ONCE=1 they are made once only. Needs root, and installs what is missing (Debian).
set -euo pipefail
cd "$(dirname "$0")/../.."

# die prints an error in one line, and exits.
die() {
  echo "release-test: $*" >&2
  exit 1
}

((EUID == 0)) || die "cannot run: it needs root, for namespaces and chroot"
(($# > 0)) || set -- linux-amd64 linux-arm64 macos-arm64 windows-amd64
for tool in ip:iproute2 curl:curl unzip:unzip npm:npm ruby:ruby; do
  scripts/needs.sh "${tool%:*}" "${tool#*:}"
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 0755 "$scratch"

out=build/release
rm -rf "$out"
scripts/release/build.sh "$@"
if [[ -z ${ONCE:-} ]]; then
  mv "$out" "$scratch/first"
  GOCACHE=$scratch/go ZIG_GLOBAL_CACHE_DIR=$scratch/zig scripts/release/build.sh "$@" >/dev/null
  diff -r "$scratch/first" "$out" || die "the second time the archives have other bytes"
  echo "ok: the second time the archives have the same bytes"
fi
(cd "$out" && sha256sum --quiet --check SHA256SUMS)

# bare makes a root of a program's libraries, beside an archive's folder.
bare() {
  local root=$1 folder=$2 library
  mkdir -p "$root"/{tmp,dev,proc}
  mknod -m 0666 "$root/dev/null" c 1 3
  mknod -m 0444 "$root/dev/urandom" c 1 9
  for library in $(ldd "$folder/dragoman" "$folder/libonnxruntime.so" | grep -o '/[^ ]*\.so[^ :]*' | grep -v "^$folder" | sort -u); do
    install -D "$library" "$root$library"
  done
  cp -R "$folder" "$root/dragoman"
}

# emulated makes the root of an emulated Arm CPU: see scripts/other_cpu_test.sh.
emulated() {
  local root=$1
  mkdir -p "$root/proc"
  ln -s /usr/aarch64-linux-gnu/lib "$root/lib"
  printf '%s\t: %s\n' processor 0 Features 'fp asimd' 'CPU implementer' 0x41 'CPU architecture' 8 \
    'CPU variant' 0x0 'CPU part' 0xd08 'CPU revision' 3 >"$root/proc/cpuinfo"
}

# packages installs the packages of a platform from their files, without a network, and compares what they have with the
# archive's folder.
packages() {
  local platform=$1 folder=$2 name=$3 tag=$4 arch=$5 into=$scratch/packages-$1
  mkdir -p "$into/npm" "$into/deb/var/lib/dpkg"/{info,updates,triggers}
  python3 -m venv "$into/venv"
  if [[ $platform == linux-amd64 ]]; then
    "$into/venv/bin/python" -m pip install --quiet --no-index "$out"/dragoman-*-py3-none-"$tag".whl
    installed=$(echo "$into"/venv/lib/python*/site-packages)
  else
    installed=$into/wheel
    "$into/venv/bin/python" -m pip install --quiet --no-index --only-binary=:all: --platform "$tag" --target "$installed" \
      "$out"/dragoman-*-py3-none-"$tag".whl
  fi
  diff -r "$folder" "$installed/dragoman/bin"
  (cd "$into/npm" && HOME=$into npm install --offline --force --silent --no-audit --no-fund "$OLDPWD/$out"/dragoman-"$name"-*.tgz \
    "$OLDPWD/$out"/dragoman-npm-*.tgz)
  diff -r "$folder" "$into/npm/node_modules/@dragoman/$name/bin"
  [[ -n $arch ]] || return 0
  touch "$into/deb/var/lib/dpkg/status"
  dpkg --root="$into/deb" --force-depends --force-architecture --install "$out"/dragoman_*_"$arch".deb >/dev/null 2>&1
  diff -r --exclude=dragoman.service "$folder" "$into/deb/usr/lib/dragoman"
  grep -q '^ExecStart=/usr/lib/dragoman/dragoman serve$' "$into/deb/usr/lib/systemd/system/dragoman.service"
}

for platform; do
  archive=$(find "$out" -name "dragoman-*-$platform.tar.gz" -o -name "dragoman-*-$platform.zip")
  case $archive in
    *.zip) unzip -q "$archive" -d "$scratch" ;;
    *) tar -xzf "$archive" -C "$scratch" ;;
  esac
  folder=$scratch/$(basename "$archive" | sed -E 's/\.(zip|tar\.gz)$//')
  size=$(stat -c %s "$archive")
  echo "$platform: $((size / 1000000)) MB"
  ((size <= 80000000)) || die "$archive has more than 80 MB"
  proc=/proc
  case $platform in
    linux-amd64) packages "$platform" "$folder" linux-x64 manylinux_2_28_x86_64 amd64 ;;
    linux-arm64) packages "$platform" "$folder" linux-arm64 manylinux_2_28_aarch64 arm64 ;;
    macos-arm64) packages "$platform" "$folder" darwin-arm64 macosx_14_0_arm64 "" ;;
    windows-amd64) packages "$platform" "$folder" win32-x64 win_amd64 "" ;;
  esac
  echo "ok: the packages of $platform have the archive's files"
  case $platform in
    linux-amd64)
      proc=$scratch/root/proc
      bare "$scratch/root" "$folder"
      run=(chroot "$scratch/root" /dragoman/dragoman)
      ;;
    linux-arm64)
      scripts/needs.sh qemu-aarch64 qemu-user libstdc++6-arm64-cross
      emulated "$scratch/arm"
      run=(qemu-aarch64 -L "$scratch/arm" "$folder/dragoman")
      ;;
    windows-amd64)
      wine=$(command -v wine64 || echo /usr/lib/wine/wine64) # Debian has it in no folder of PATH
      scripts/needs.sh "$wine" wine64
      HOME=$scratch WINEDEBUG=-all "$wine" wineboot --init >/dev/null 2>&1
      HOME=$scratch "$(dirname "$wine")/wineserver" --wait # it serves no other namespace
      build/zig/ziglang/zig cc -target x86_64-windows-gnu -O2 -s -fno-sanitize=undefined -shared \
        -o "$scratch/.wine/drive_c/windows/system32/bcryptprimitives.dll" scripts/release/wine_random.c -ladvapi32
      run=(env HOME="$scratch" "$wine" "$folder/dragoman.exe")
      ;;
    *)
      echo "not tried: $platform"
      continue
      ;;
  esac
  unshare --mount --net --pid --fork --kill-child --mount-proc="$proc" scripts/release/try.sh "${run[@]}"
  if [[ $platform == linux-amd64 ]]; then
    ruby scripts/release/brew.rb "$out/dragoman.rb" "$scratch/brew"
    for program in venv/bin/dragoman npm/node_modules/.bin/dragoman deb/usr/bin/dragoman ../brew/bin/dragoman; do
      echo "as installed: ${program#../}"
      unshare --mount --net --pid --fork --kill-child --mount-proc=/proc scripts/release/try.sh \
        env -i PATH=/usr/bin:/bin HOME="$scratch/home" XDG_CACHE_HOME="$scratch/home" "$scratch/packages-$platform/$program"
    done
  fi
done
echo "release-test: passed"
