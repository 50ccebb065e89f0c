#!/usr/bin/env bash
# Makes what `make` needs: .venv with pinned packages, JDK 17, Maven, sshd; with --tests also chromium, MooseFS,
# Slurm, a KDC and what meters of power speak, with --spark also Spark.
# Does nothing when everything is there already. Only root installs Debian packages; others are told which.
set -euo pipefail
cd "$(dirname "$0")/.."

VENV="$PWD/.venv"
STAMP="$VENV/.stamp"

fail() {
    printf 'setup: %s\n' "$1" >&2
    exit 1
}

updated=no
install() { # install PACKAGE...: Debian packages
    [ "$(id -u)" = 0 ] || fail "needed and missing: $*. Install it (as root: apt-get install $*) and try again."
    command -v apt-get > /dev/null || fail "needed and missing: $*. There is no apt-get here; install it by hand."
    export DEBIAN_FRONTEND=noninteractive
    if [ "$updated" = no ]; then
        apt-get update -q || fail "apt-get update failed; cannot install $*"
        updated=yes
    fi
    apt-get install -q -y --no-install-recommends "$@" || fail "apt-get could not install $*"
}

find_python() { # the first Python that is new enough; 3.11 is the one that is tested
    local candidate
    for candidate in python3.11 python3.12 python3.13 python3; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
            command -v "$candidate"
            return
        fi
    done
    fail "no Python 3.11 or newer: looked for python3.11, python3.12, python3.13 and python3 on PATH"
}

make_venv() {
    local python
    python="$(find_python)"
    rm -rf "$VENV"
    "$python" -c 'import ensurepip, venv' 2> /dev/null || install python3-venv
    "$python" -m venv "$VENV" || fail "$python -m venv failed"
}

inputs() { # one line that changes when the environment must be made anew
    { sha256sum requirements/run.txt requirements/dev.txt pyproject.toml tools/setup.sh; echo "$VENV"; } | sha256sum
}

setup_python() {
    [ "$(cat "$STAMP" 2> /dev/null)" = "$(inputs)" ] && [ -x "$VENV/bin/python" ] && return
    # A copied tree brings an environment whose programs point at the original.
    [ -x "$VENV/bin/python" ] && grep -qsF -- "$VENV" "$VENV/bin/activate" || make_venv
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
        -r requirements/run.txt -r requirements/dev.txt || fail "pip could not install the pinned packages"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . ||
        fail "pip could not install howdah itself"
    inputs > "$STAMP"
}

have_jdk_17() { # read from the files, since starting a JVM takes longer than everything else here
    local javac home
    for javac in "${JAVA_HOME:-/nowhere}/bin/javac" "$(command -v javac)" /usr/lib/jvm/*/bin/javac; do
        [ -x "$javac" ] || continue
        home="$(dirname "$(dirname "$(readlink -f "$javac")")")"
        grep -qs '^JAVA_VERSION="17[.".]' "$home/release" && return
    done
    return 1
}

setup_java() {
    have_jdk_17 || install openjdk-17-jdk-headless
    command -v mvn > /dev/null || install maven
    command -v cc > /dev/null || install gcc libc6-dev # a test builds a library that stands in for Lustre's
}

setup_hosts() { # servers that tests start, and end, by themselves; disks of simulated hosts, which root has
    [ -x /usr/sbin/sshd ] && command -v ssh > /dev/null || install openssh-server openssh-client
    [ "$(id -u)" != 0 ] || command -v mkfs.xfs > /dev/null || install xfsprogs
}

setup_spark() { # not among the others: it is large, and few need it
    "$VENV/bin/python" -c 'import pyspark' 2> /dev/null && return
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --no-build-isolation \
        -r requirements/spark.txt || fail "pip could not install Spark"
}

setup_moosefs() { # a shared file system to test on; only root can mount it. It brings libfuse3, which tests need too
    [ "$(id -u)" = 0 ] || return 0
    command -v mfsmaster > /dev/null || install moosefs-master moosefs-chunkserver moosefs-client iproute2
}

setup_meters() { # what asks for power, and what tests ask; only root can install it
    [ "$(id -u)" = 0 ] || return 0
    command -v ipmitool > /dev/null && command -v snmpget > /dev/null && command -v prometheus > /dev/null ||
        install ipmitool snmp prometheus
}

setup_batch() { # Slurm, with the commands of PBS; tests start it and end it. Only root can simulate the hosts
    [ "$(id -u)" = 0 ] || return 0
    command -v slurmctld > /dev/null && command -v munged > /dev/null && command -v qsub > /dev/null ||
        install slurm-wlm munge slurm-wlm-torque
}

setup_kerberos() { # MIT's KDC, as sites have it; tests start it and end it
    [ "$(id -u)" = 0 ] || return 0
    [ -x /usr/sbin/krb5kdc ] && [ -x /usr/sbin/kadmin.local ] && command -v kinit > /dev/null ||
        install krb5-kdc krb5-admin-server krb5-user
}

setup_browser() { # fonts are only recommended by chromium, but without any a page has no text
    command -v chromium > /dev/null || install chromium fonts-liberation
}

mkdir -p .build
exec 9> .build/lock
flock 9
setup_python
setup_java
setup_hosts
[ "${1:-}" != --tests ] || { setup_browser && setup_moosefs && setup_meters && setup_batch && setup_kerberos; }
[ "${1:-}" != --spark ] || setup_spark
