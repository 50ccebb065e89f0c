#!/usr/bin/env bash
# tools/daemon_tests.sh: the tests with daemons, two files of them at a time, since each waits for a part of its time.
# Two clusters at a time disturb each other on a machine of two cores. So what fails is run once more, alone and one at
# a time: what passes then is said, not hidden, and what fails then too fails all.
# Their JVMs live for seconds and do without the optimising compiler (a small job in one process: 2.7 s of CPU, not 4.7).
# `make soak` has it, and the costly variants of what other tests show (the marker `soak`).
set -euo pipefail
cd "$(dirname "$0")/.."

CACHE=.build/daemon-tests # of its own, and new each time: what failed in other runs is no business of this one
JDK="$PWD/.build/jdk"

chosen_jdk() { # the one that Howdah takes
    .venv/bin/python -c '
from contextlib import closing
from howdah.hadoop.jdk import choose_jdk, find_jdks
from howdah.host.channel import open_local
with closing(open_local("here")) as host:
    print(choose_jdk(find_jdks(host), "3.4.2").home)'
}

quick_jdk() { # that JDK, but for its command `java`
    local real part
    real="$(chosen_jdk)"
    rm -rf "$JDK"
    mkdir -p "$JDK/bin"
    for part in "$real"/*; do [ "$part" = "$real/bin" ] || ln -s "$part" "$JDK"; done
    ln -s "$real"/bin/* "$JDK/bin"
    rm "$JDK/bin/java"
    printf '#!/bin/sh\nexec "%s/bin/java" -XX:TieredStopAtLevel=1 "$@"\n' "$real" > "$JDK/bin/java"
    chmod +x "$JDK/bin/java"
}

daemon_tests() {
    JAVA_HOME="$JDK" .venv/bin/pytest -o cache_dir="$CACHE" -m "not soak" "$@" tests/system tests/faults
}

rm -rf "$CACHE"
quick_jdk
daemon_tests -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart=0 --durations=25 && exit
failed=$?
[ "$failed" = 1 ] || exit "$failed" # interrupted, crashed, or nothing was tested

printf '\n%s\n' 'What failed is run once more, alone. What PASSED in the end fails only beside another cluster.'
daemon_tests --last-failed --last-failed-no-failures=none -rfEsxXp
