#!/usr/bin/env bash
# Builds the image with buildah, without a daemon, and runs the image. Works only on Debian and as root, and takes a few
# minutes. CI therefore runs the same steps without a container (`check-release.sh`). If the base image cannot be pulled
# from docker.io, builds a substitute with the same name from Debian packages and the npm package `node@24`.
set -euo pipefail
cd "$(dirname "$0")/../.."
base=docker.io/library/node:24-bookworm-slim
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends buildah debootstrap > /dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export BUILDAH_ISOLATION=chroot
images() { buildah --storage-driver vfs --root "$folder/images" --runroot "$folder/run" "$@"; }

if ! images pull --quiet "$base"; then
  root="$folder/root"
  debootstrap --variant=minbase bookworm "$root" > /dev/null
  cp "$(npx -y -p node@24 -c 'node -p process.execPath')" "$root/usr/local/bin/node"
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -r "$(npm root --global)/npm" "$root/usr/local/lib/node_modules/"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  chroot "$root" useradd --uid 1000 --create-home node
  container=$(images from scratch)
  images add --quiet "$container" "$root" / > /dev/null
  images config --env PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  images commit --quiet --rm "$container" "$base" > /dev/null
  rm -r "$root"
fi

# During the build, npm uses this machine's registry setting and cache.
printf 'registry=%s\n' "$(npm config get registry)" > "$folder/npmrc"
images build --quiet --format docker --network host --pull-never --volume "$folder/npmrc:/root/.npmrc:ro" \
  --volume "$(npm config get cache):/root/.npm" --ignorefile deploy/container/Containerfile.dockerignore --file deploy/container/Containerfile --tag causeway .
container=$(images from --pull-never causeway)
inside() { images run "$container" -- "$@"; }
[ "$(inside id -u)" = 1000 ] || { echo 'The image must not run as root.'; exit 1; }
inside node --version
inside node service/bin/causeway.mjs --help > /dev/null
code=0
refusal=$(inside node service/bin/causeway.mjs serve 2>&1) || code=$?
grep -q 'CAUSEWAY_SECRET' <<< "$refusal" && [ "$code" = 2 ] || { echo "$refusal"; exit 1; }
echo 'The image runs.'
