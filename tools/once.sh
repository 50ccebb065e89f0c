#!/usr/bin/env bash
# tools/once.sh DIR COMMAND...: runs the command unless DIR is as it was when the command last succeeded.
set -euo pipefail
cd "$(dirname "$0")/.."

dir="$1"
shift
stamp=".build/once-$dir"
state="$({ printf '%s\n' "$@"; find "$dir" -name target -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; } | sha256sum)"
[ "$(cat "$stamp" 2> /dev/null)" != "$state" ] || exit 0
printf '%s\n' "$*"
"$@"
echo "$state" > "$stamp"
