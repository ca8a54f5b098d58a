#!/bin/sh
# report-image.sh RUN OUT.png [WIDTH HEIGHT]: takes a picture of a run's report.html with a
# Chromium without a screen. CHROMIUM names the browser where it is not on the PATH.
set -eu
run=${1:?usage: report-image.sh RUN OUT.png [WIDTH HEIGHT]}
out=${2:?usage: report-image.sh RUN OUT.png [WIDTH HEIGHT]}
width=${3:-1280}
height=${4:-1560}
browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
page=$(cd "$run" && pwd)/report.html
[ -f "$page" ] || { echo "$page is not there: inferencebench report $run" >&2; exit 1; }
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
"$browser" --headless --no-sandbox --disable-gpu --disable-background-networking --hide-scrollbars \
  --user-data-dir="$profile" --window-size="$width,$height" --screenshot="$out" "file://$page" >/dev/null 2>&1
[ -s "$out" ] || { echo "no picture was made" >&2; exit 1; }
