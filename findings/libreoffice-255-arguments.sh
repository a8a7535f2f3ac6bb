#!/usr/bin/env bash
# LibreOffice converts the first files of a long command line only, and reports success.
#
# soffice is a script that starts oosplash, which starts soffice.bin with 255 arguments at most, its own one included, and drops those
# behind them. In Debian 12's LibreOffice 7.4.7, `soffice --headless --convert-to xlsx --outdir out *.csv` of 300 files gives:
#
#   soffice                                -> exit 0, 248 of 300 files
#   soffice --norestore --nologo           -> exit 0, 246 of 300 files
#   soffice.bin, without the two programs  -> exit 0, 300 of 300 files
#
# Nothing names the others, so whoever converts a folder by a pattern lacks what sorts last: count the results, call soffice.bin, or
# pass fewer files at once. The script fails if that changes. It needs Debian 12 and root, and installs into an overlay in a temp folder.
set -euo pipefail
if [[ ${1:-} != inside ]]; then exec unshare --mount "$0" inside; fi
work=$(mktemp -d)
trap 'umount -l "$work/root" "$work" || true; rmdir "$work"' EXIT
mount -t tmpfs tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$work/root"
mount --rbind /dev "$work/root/dev"
mount -t proc proc "$work/root/proc"
chroot "$work/root" bash -s <<'BASH'
set -euo pipefail
export HOME=/tmp/home DEBIAN_FRONTEND=noninteractive
apt-get install -qq --no-install-recommends 'libreoffice-calc-nogui=4:7.4.7-1+deb12u*' >/dev/null
mkdir -p $HOME/files && cd $HOME/files
for i in $(seq 300); do echo "a,b,$i" >"$i.csv"; done

convert() { # PROGRAM OPTIONS...
  rm -rf $HOME/out
  "$@" --headless --convert-to xlsx --outdir $HOME/out *.csv >$HOME/log 2>&1
  find $HOME/out -name '*.xlsx' | wc -l
}
found=("$(convert soffice)" "$(convert soffice --norestore --nologo)" "$(convert /usr/lib/libreoffice/program/soffice.bin)")
echo "soffice, soffice with two more options, soffice.bin: ${found[*]} of 300 files"
[[ ${found[*]} == "248 246 300" ]]
BASH
