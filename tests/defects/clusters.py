"""Defects of the life of clusters: what starts, who may use it, what is left."""

from __future__ import annotations

from tests.defects.defect import Defect

_DAEMONS = "src/howdah/cluster/deployment/daemons.py"
_SUPERVISOR, _CLIENT = "src/howdah/cluster/supervision/supervisor.py", "src/howdah/cluster/supervision/client.py"
_AGENT = "src/howdah/host/agent"
_START, _INTERRUPTS = "tests/faults/test_cluster_start.py", "tests/faults/test_interrupts.py"
_CLUSTER = "tests/system/test_cluster.py"

DEFECTS = (
    Defect(
        name="ports-not-reserved",
        promise="Two clusters that come up at once get different ports.",
        file="src/howdah/cluster/allocation/here.py",
        old="            if not self._reservation.take(first):\n                continue\n",
        new="            self._reservation.take(first)\n",
        tests=("tests/unit/cluster/test_state.py::test_two_clusters_that_come_up_at_once_get_different_ports",),
    ),
    Defect(
        name="wildcard-port-taken",
        promise="A block of ports of which somebody has one, at whatever address, is passed over.",
        file=f"{_AGENT}/network.py",
        old='if _can_listen(address, port) and _can_listen("", port)]',
        new="if _can_listen(address, port)]",
        tests=("tests/faults/test_ports.py::test_a_block_with_one_port_taken_is_passed_over",),
    ),
    Defect(
        name="orphans-get-away",
        promise="Everything that an agent started ends with its channel, also what has left its session.",
        file=f"{_AGENT}/children.py",
        old="prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)",
        new="prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)",
        tests=("tests/contract/test_host.py::test_closing_ends_everything_also_what_left_its_session",),
    ),
    Defect(
        name="name-not-locked",
        promise="A cluster's name is that of one cluster, also where two come up at once.",
        file="src/howdah/store/locks.py",
        old="                if holder_of(path) is not None:",
        new="                if False:",
        tests=(f"{_START}::test_two_of_one_name_at_once",),
    ),
    Defect(
        name="foreign-directory-emptied",
        promise="A directory that no cluster has made is never emptied.",
        file=f"{_AGENT}/files.py",
        old="        other = _owner(path)\n        if other != owner:\n            return other\n    remove_claimed",
        new="        other = _owner(path)\n        if other and other != owner:\n            return other\n"
        "    remove_claimed",
        tests=(f"{_START}::test_what_is_not_the_clusters_own_is_not_removed",),
    ),
    Defect(
        name="stack-trace-for-a-message",
        promise="A daemon that cannot start is named with its reason, without a stack trace.",
        file=_DAEMONS,
        old='_LOG_NOISE = re.compile(r"\\s+at |',
        new='_LOG_NOISE = re.compile(r"',
        tests=(f"{_START}::test_a_daemon_that_cannot_start",),
    ),
    Defect(
        name="damaged-namespace-used",
        promise="A kept namespace of HDFS that is damaged is made again.",
        file="src/howdah/hadoop/distribution/namespace.py",
        old='not files[f"{_IMAGE}.md5"].startswith(digest.encode())',
        new='not files[f"{_IMAGE}.md5"].endswith(b"\\n")',
        tests=(f"{_START}::test_a_damaged_kept_namespace_is_made_anew",),
    ),
    Defect(
        name="leftovers-forgotten",
        promise="`howdah down` removes what a cluster left whose supervisor died while it started.",
        file=_CLIENT,
        old="            if manifest is None or manifest.state in GONE:\n                return Ended.NOTHING\n",
        new='            if manifest is None or manifest.state != "up":\n                return Ended.NOTHING\n',
        tests=(f"{_START}::test_a_supervisor_killed_while_it_starts",),
    ),
    Defect(
        name="daemons-left-behind",
        promise="After `kill -9` of a run, every process of its cluster ends.",
        file=_SUPERVISOR,
        old="            return\n    supervisor.end()\n",
        new="            return\n    sys.stdin.close()\n",
        tests=(f"{_INTERRUPTS}::test_killed_on_a_cluster_of_its_own[run]",),
    ),
    Defect(
        name="lease-lost",
        promise="After `kill -9` of a run on a cluster that stays, its applications are killed.",
        file="src/howdah/cluster/control.py",
        old="        if leased is not None:\n            self._served.kill_applications(leased)",
        new="        if leased is not None and self._claims:\n            self._served.kill_applications(leased)",
        tests=(f"{_INTERRUPTS}::test_killed_on_a_persistent_cluster",),
    ),
    Defect(
        name="aborted-is-failed",
        promise="A run that is interrupted is kept as aborted, and names the phase.",
        file="src/howdah/engine/run/execution.py",
        old='outcome, raised = Outcome("aborted", f"interrupted in {phase}"), error',
        new='outcome, raised = Outcome("failed", f"interrupted in {phase}"), error',
        tests=(f"{_INTERRUPTS}::test_twice_does_not_break_the_tidying_up",),
    ),
    Defect(
        name="configuration-readable-by-all",
        promise="What a cluster keeps is readable by its owner only.",
        file=_DAEMONS,
        old='operations.write_file(host, f"{conf}/{name}", content)',
        new='operations.write_file(host, f"{conf}/{name}", content, mode=0o644)',
        tests=(f"{_CLUSTER}::test_what_the_cluster_keeps_is_private",),
    ),
    Defect(
        name="logs-removed-by-down",
        promise="`howdah down` leaves nothing but the logs.",
        file=_DAEMONS,
        old="operations.remove(host, plan.quarters[host.name].conf)",
        new="operations.remove(host, plan.quarters[host.name].logs)",
        tests=(f"{_CLUSTER}::test_down_leaves_nothing_but_the_logs",),
    ),
    Defect(
        name="open-port-not-said",
        promise="Every port that is open to other machines is named.",
        file="src/howdah/cluster/exposure.py",
        old='        "application masters, web pages": [plan.application_web_ports],\n',
        new="",
        tests=(f"{_CLUSTER}::test_all_that_listens_is_loopback_or_said",),
    ),
    Defect(
        name="interrupt-is-failure",
        promise="Ctrl-C while a cluster comes up ends it, and exits with 130.",
        file="src/howdah/cli/main.py",
        old="        sys.exit(130)",
        new="        sys.exit(1)",
        tests=(f"{_START}::test_interrupted_in_the_middle",),
    ),
    Defect(
        name="directory-of-another-user",
        promise="A directory that another user could change holds no cluster.",
        file="src/howdah/host/agent/files.py",
        old="        if seen.st_uid not in trusted:",
        new="        if seen.st_uid not in trusted and not place:",
        tests=("tests/unit/host/test_files.py::test_who_else_could_change_what_is_in_a_directory_is_told",),
    ),
    Defect(
        name="blocks-left-behind",
        promise="`howdah shrink` loses no data and leaves nothing on the host.",
        file="src/howdah/cluster/deployment/resizing.py",
        old="waits = {one.name for one in status.live if one.state != _DECOMMISSIONED}",
        new="waits = {one.name for one in status.live if one.state == _IN_SERVICE}",
        tests=("tests/unit/cluster/deployment/test_resizing.py::test_what_hdfs_cannot_copy_keeps_its_host",),
    ),
    Defect(
        name="dead-datanode-trusted",
        promise="HDFS is not asked for the blocks of a DataNode that has stopped.",
        file="src/howdah/cluster/deployment/resizing.py",
        old="if seconds < _REMOVED_SECONDS}",
        new="if seconds < 0}",
        tests=(
            "tests/unit/cluster/deployment/test_resizing.py"
            "::test_hdfs_is_not_asked_to_copy_from_a_datanode_that_has_stopped",
        ),
    ),
    Defect(
        name="several-file-systems-used",
        promise="Persistent data of several file systems are refused before anything starts.",
        file="src/howdah/cluster/deployment/persistence.py",
        old="        self._compare_parts(self._record, placed)\n",
        new="",
        tests=(
            "tests/unit/cluster/deployment/test_persistence.py::test_parts_that_are_not_of_one_file_system_are_refused",
        ),
    ),
)
