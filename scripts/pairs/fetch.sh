#!/usr/bin/env bash
# Fetches the message catalogs of Debian packages into a folder, without installing anything:
#
#   scripts/pairs/fetch.sh [folder]      (default: build/pairs/catalogs)
#
# The output lists the version of each package. Where a pinned version has left the archive, the current one is taken: figures are
# only comparable between equal lists. A run that finds the catalogs of a package does nothing for it.
set -euo pipefail

folder=${1:-build/pairs/catalogs}
packages='
  audacity-data=3.2.4+dfsg-1 darktable=4.2.1-4 deja-dup=44.0-2 digikam-data=4:7.9.0-1 evolution-common=3.46.4-2+deb12u1
  freeciv-data=3.0.6-1+deb12u1 gimp-data=2.10.34-1+deb12u10 gnome-control-center-data=1:43.6-2~deb12u1
  gnome-software-common=43.5-1~deb12u2 gnucash-common=1:4.13-1 gnumeric-common=1.12.55-1 gpodder=3.11.1-1 gramps=5.1.5-1
  homebank-data=5.6.2-1 hugin-data=2022.0.0+dfsg-2 inkscape=1.2.2-2+deb12u1 kdenlive-data=22.12.3-2+deb12u2
  kmymoney-common=5.1.3-1 krita-l10n=1:5.1.5+dfsg-2+deb12u1 libgtk-3-common=3.24.38-2~deb12u3
  libkf5unitconversion-data=5.103.0-1 minetest-data=5.6.1+dfsg+~1.9.0mt8+dfsg-2 nautilus-data=43.2-1
  rhythmbox-data=3.4.6-2 shotwell-common=0.30.17-1 synaptic=0.91.3 vlc-l10n=3.0.24-0+deb12u1'

command -v apt-get dpkg-deb >/dev/null || { echo "fetch: this needs Debian's apt-get and dpkg-deb" >&2; exit 1; }
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for package in $packages; do
  name=${package%%=*}
  if [ ! -d "$folder/$name" ]; then
    rm -rf "$work"/*
    (cd "$work" && { apt-get download -qq "$package" || apt-get download -qq "$name"; } 2>apt.log >&2) || { cat "$work/apt.log" >&2; exit 1; }
    mkdir "$work/catalogs"
    dpkg-deb --fsys-tarfile "$work"/*.deb | tar -x -C "$work/catalogs" --wildcards './usr/share/locale/*/LC_MESSAGES/*.mo' 2>/dev/null || true
    dpkg-deb -f "$work"/*.deb Version >"$work/catalogs/version"
    mv "$work/catalogs" "$folder/$name"
  fi
  echo "$name $(cat "$folder/$name/version")"
done
