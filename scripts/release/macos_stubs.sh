#!/usr/bin/env bash
# Writes what a linker has to know of the macOS libraries that Go's standard library calls, where
# there is no SDK of Apple's: names, which are those in Go's source. Also the header that Prometheus'
# client needs and zig does not have.
#
#   scripts/release/macos_stubs.sh folder      (then: -F folder -L folder -I folder)
set -euo pipefail

(($# == 1)) || { echo "macos_stubs: name the folder: scripts/release/macos_stubs.sh folder" >&2; exit 1; }
mkdir -p "$1"
cd "$1"

# Lines such as: //go:cgo_import_dynamic x509_CFEqual CFEqual "/System/…/CoreFoundation"
names=$(grep -rhE --include='*.go' '^//go:cgo_import_dynamic [^ ]+ [^ ]+ "(/System/|/usr/lib/libresolv)' "$(go env GOROOT)/src" |
  tr -d '"' | awk '{ print $4, $3 }' | sort -u)
[[ -n $names ]] || { echo "macos_stubs: Go's source names no libraries of macOS: look how it does now" >&2; exit 1; }

for library in $(cut -d' ' -f1 <<<"$names" | sort -u); do
  case $library in
    *.framework/*) stub=$(basename "$library").framework/$(basename "$library").tbd ;;
    *) stub=$(basename "$library" .9.dylib).tbd ;;
  esac
  mkdir -p "$(dirname "$stub")"
  {
    printf -- "--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\ninstall-name: '%s'\n" "$library"
    printf 'exports:\n  - targets: [ arm64-macos ]\n    symbols: [ %s ]\n...\n' \
      "$(awk -v library="$library" '$1 == library { printf "%s_%s", comma, $2; comma = ", " }' <<<"$names")"
  } >"$stub"
done

mkdir -p mach
cat >mach/mach_vm.h <<'END'
#include <mach/mach_types.h>
kern_return_t mach_vm_region(vm_map_t, mach_vm_address_t *, mach_vm_size_t *, vm_region_flavor_t, vm_region_info_t, mach_msg_type_number_t *,
                             mach_port_t *);
END
