#!/bin/sh
# install.sh <packages> <root>: lays out the files of the image below <root>, from what `npm run package` has made.
set -eu
packages=$1
root=$2
here=$(dirname "$0")

mkdir -p "$root/app"
(cd "$packages" && sha256sum --check --quiet SHA256SUMS)
npm install --global --prefix "$root/app" --no-audit --no-fund "$packages"/svc-[0-9]*.tgz "$packages"/svcctl-[0-9]*.tgz
ln -sf bin/svc "$root/app/svc"
ln -sf bin/svcctl "$root/app/svcctl"
cp "$here/wait-for" "$here/healthy" "$root/app/"
chmod 0755 "$root/app/wait-for" "$root/app/healthy"
