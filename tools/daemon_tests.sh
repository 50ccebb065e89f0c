#!/usr/bin/env bash
# tools/daemon_tests.sh: the tests with daemons, two files of them at a time, since each waits for half of its time.
# Two clusters at a time disturb each other on a machine of two cores. So what fails is run once more, alone and one at
# a time: what passes then is said, not hidden, and what fails then too fails all.
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=.build/daemon-tests # of its own, and new each time: what failed in other runs is no business of this one

daemon_tests() {
    .venv/bin/pytest -o cache_dir="$CACHE" "$@" tests/system tests/faults
}

rm -rf "$CACHE"
daemon_tests -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart=0 --durations=25 && exit
failed=$?
[ "$failed" = 1 ] || exit "$failed" # interrupted, crashed, or nothing was tested

printf '\n%s\n' 'What failed is run once more, alone. What PASSED in the end fails only beside another cluster.'
daemon_tests --last-failed --last-failed-no-failures=none -rfEsxXp
