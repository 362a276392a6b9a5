#!/usr/bin/env bash
# Runs the steps of the Containerfile without a container. Checks the installation's size, and that the `causeway`
# command starts.
set -euo pipefail
cd "$(dirname "$0")/../.."
release=$(mktemp -d)
trap 'rm -rf "$release"' EXIT
node service/bin/release.mjs "$release"
(cd "$release" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund)
size=$(du -sm "$release" | cut -f 1)
echo "The production installation takes up $size MB."
[ "$size" -lt 150 ] || { echo 'It must stay below 150 MB.'; exit 1; }
cmp openapi.json "$release/openapi.json"
cd /
node "$release/service/bin/causeway.mjs" --help > /dev/null
code=0
env -i PATH="$PATH" node "$release/service/bin/causeway.mjs" 2> "$release/refusal" || code=$?
grep -q 'has no sandbox' "$release/refusal" && [ "$code" = 2 ] || { cat "$release/refusal"; exit 1; }
