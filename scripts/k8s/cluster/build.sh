#!/usr/bin/env bash
# Builds a Kubernetes control plane and kubectl from the published Go modules, and takes the custom resource
# definitions of the manifests from theirs:
#
#   scripts/k8s/cluster/build.sh folder
#
# The folder gets etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl and crds/. The versions are those
# of scripts/k8s/go.mod, whose types decode the manifests. A folder that has them is left alone; the first time takes a
# quarter of an hour on 2 cores.
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

version() { go list -m -f '{{.Version}}' "$1"; }
api=$(version k8s.io/api)
keda=$(version github.com/kedacore/keda/v2)
prometheus=$(version github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring)
kubernetes=v1${api#v0}
key="kubernetes $kubernetes, keda $keda, prometheus-operator $prometheus, $(go version)"
[[ $(cat "$folder/version" 2>/dev/null || true) != "$key" ]] || exit 0
rm -rf "$folder/version" "$folder/crds"
mkdir "$folder/crds"

source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT

# download fetches a module, and prints its Dir, or another field that go mod download knows.
download() { (cd "$source" && go mod download -json "$1") | sed -n "s/^\t\"$2\": \"\(.*\)\",*$/\1/p"; }

modules=$(download "k8s.io/kubernetes@$kubernetes" GoMod)
# Kubernetes' go.mod replaces some of its modules by folders of its repository. They are published as well.
{
  printf 'module cluster\n\ngo %s\n\nrequire k8s.io/kubernetes %s\n\nreplace (\n' "$(go env GOVERSION | sed 's/^go//; s/ .*//')" "$kubernetes"
  sed -n "s,^\t\(k8s.io/[a-z-]*\) => ./staging/.*,\t\1 => \1 $api,p" "$modules"
  printf ')\n'
} >"$source/go.mod"

minor=${kubernetes#v1.}
flags="-s -w -X k8s.io/component-base/version.gitVersion=$kubernetes -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${minor%.*}"
build() {
  echo "building $1" >&2
  CGO_ENABLED=0 go -C "$source" build -mod=mod -trimpath -gcflags=all=-dwarf=false -ldflags "$flags" -o "$folder/$1" "$2"
}
build etcd go.etcd.io/etcd/server/v3
for program in kubectl kube-apiserver kube-controller-manager kube-scheduler; do
  build "$program" "k8s.io/kubernetes/cmd/$program"
done

install -m 644 "$(download "github.com/kedacore/keda/v2@$keda" Dir)/config/crd/bases/keda.sh_scaledobjects.yaml" \
  "$(download "github.com/prometheus-operator/prometheus-operator@$prometheus" Dir)/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml" \
  "$folder/crds"
printf '%s' "$key" >"$folder/version"
