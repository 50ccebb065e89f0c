"""Defects of clusters on several hosts: how they are reached, what is sent there, what is lost."""

from __future__ import annotations

from tests.defects.defect import Defect

_AGENT, _ALLOCATION = "src/howdah/host/agent", "src/howdah/cluster/allocation"
_LIVE, _SHIPPING = "tests/unit/cluster/live/test_cluster.py", "tests/unit/cluster/software/test_shipping.py"
_LAUNCHER, _LISTED = "tests/contract/test_launcher.py", "tests/unit/cluster/allocation/test_listed.py"

DEFECTS = (
    Defect(
        name="machine-counted-per-host",
        promise="Several hosts on one machine are observed once.",
        file="src/howdah/cluster/live/managed.py",
        old="found = {machine: self.hosts[host] for machine, host in self._plan.machines.items()}",
        new="found = dict(self.hosts)",
        tests=(f"{_LIVE}::test_hosts_on_one_machine_are_one_machine",),
    ),
    Defect(
        name="cpu-of-one-host",
        promise="The CPU time of daemons and tasks is read on each host and added up.",
        file="src/howdah/engine/evidence/accounting.py",
        old="                used[role] = used.get(role, 0.0) + seconds\n",
        new="                used[role] = seconds\n",
        tests=(
            "tests/unit/engine/evidence/test_accounting.py"
            "::test_hosts_are_added_up_though_their_processes_have_the_same_numbers",
        ),
    ),
    Defect(
        name="series-by-another-clock",
        promise="Series of hosts whose clocks differ have one time.",
        file="src/howdah/probe/system.py",
        old='"utc": record["utc"] - self._clock["ahead"]',
        new='"utc": record["utc"] + self._clock["ahead"]',
        tests=("tests/unit/probe/test_clocks.py::test_series_have_the_time_of_this_machine",),
    ),
    Defect(
        name="agent-stays",
        promise="An agent ends its processes when its owner has been silent.",
        file=f"{_AGENT}/heartbeat.py",
        old="            if self._quiet > _TICKS:\n",
        new="            if self._quiet > 10_000 * _TICKS:\n",
        tests=("tests/unit/host/test_heartbeat.py::test_a_beat_that_waits_does_not_keep_it_from_listening",),
    ),
    Defect(
        name="silence-by-the-clock",
        promise="A machine that sleeps with both ends of a channel loses nothing.",
        file=f"{_AGENT}/heartbeat.py",
        old="            self._quiet += 1\n",
        new="            from time import monotonic\n\n            now = monotonic()\n"
        '            self._quiet += max(1, round((now - getattr(self, "_then", now)) / self._tick))\n'
        "            self._then = now\n",
        tests=(f"{_LAUNCHER}::test_nothing_ends_when_both_ends_are_stopped_together",),
    ),
    Defect(
        name="name-as-option",
        promise="A host's name is never an option of ssh.",
        file="src/howdah/host/launch/ssh.py",
        old='*self.options, "--", self.target, there)',
        new="*self.options, self.target, there)",
        tests=(f"{_LAUNCHER}::test_a_name_that_looks_like_an_option_is_none",),
    ),
    Defect(
        name="unverified-copy",
        promise="What was sent is verified by its hash.",
        file=f"{_AGENT}/store.py",
        old="    if _sha256(part) != digest:\n",
        new="    if not digest:\n",
        tests=(f"{_SHIPPING}::test_a_file_that_arrives_damaged_is_refused_and_can_be_sent_again",),
    ),
    Defect(
        name="sent-from-the-beginning",
        promise="An interrupted copy goes on where it was.",
        file="src/howdah/cluster/software/shipping.py",
        old="        content.seek(min(offset, size))\n",
        new="        content.seek(0)\n",
        tests=(f"{_SHIPPING}::test_a_copy_that_was_interrupted_goes_on",),
    ),
    Defect(
        name="host-twice",
        promise="Two names of one host are refused.",
        file=f"{_ALLOCATION}/listed.py",
        old="seen.setdefault((one.boot, one.network), name)",
        new="seen.setdefault((one.boot, name), name)",
        tests=(f"{_LISTED}::test_names_of_one_host_are_refused",),
    ),
    Defect(
        name="way-not-tried",
        promise="Hosts that do not reach each other are named, with the port.",
        file=f"{_ALLOCATION}/listed.py",
        old='found = {"this machine": self._from_here(targets), **over(self._hosts, missed)}',
        new='found = {"this machine": self._from_here(targets)}',
        tests=(f"{_LISTED}::test_whoever_is_not_reached_is_named_with_the_port",),
    ),
    Defect(
        name="host-without-its-turn",
        promise="Every host has its turn, and one error names each host with a problem.",
        file="src/howdah/host/over.py",
        old="    if len(hosts) < 2:\n",
        new="    if hosts:\n",
        tests=("tests/unit/host/test_over.py::test_every_host_has_its_turn_and_every_problem_is_told",),
    ),
    Defect(
        name="stores-by-their-path",
        promise="Hosts find out by marks whether they have one store, not by its path.",
        file="src/howdah/cluster/software/installation.py",
        old='        operations.write_file(host, marks[host.name], b"")\n',
        new='        for mark in marks.values():\n            operations.write_file(host, mark, b"")\n',
        tests=(f"{_SHIPPING}::test_one_path_on_two_file_systems_is_two_stores",),
    ),
    Defect(
        name="everything-from-here",
        promise="Hosts copy software from each other.",
        file="src/howdah/cluster/software/shipping.py",
        old="        if parent is None:\n",
        new="        if host is not None:\n",
        tests=(f"{_SHIPPING}::test_one_host_is_sent_the_files_and_the_others_fetch_them",),
    ),
    Defect(
        name="copies-for-everybody",
        promise="A host gives files to those alone that its owner has sent.",
        file=f"{_AGENT}/copies.py",
        old="            if not hmac.compare_digest(_exactly(connection, _NUMBER), _proof(secret, number)):\n",
        new="            if not _exactly(connection, _NUMBER):\n",
        tests=(f"{_SHIPPING}::test_who_lacks_the_secret_or_asks_for_something_else_is_sent_nothing",),
    ),
    Defect(
        name="any-network",
        promise="`--network` chooses the network of the daemons.",
        file="src/howdah/spec/hosts.py",
        old="        return ipaddress.IPv4Address(address) in ipaddress.IPv4Network(network, strict=False)\n",
        new="        return True\n",
        tests=("tests/unit/spec/test_hosts.py::test_a_network_is_a_range_or_a_pattern",),
    ),
    Defect(
        name="any-rate",
        promise="A simulated network without its rate is refused before any daemon starts.",
        file=f"{_ALLOCATION}/simulated.py",
        old="    if not least <= slowest <= fastest <= most:\n        raise",
        new="    if fastest < slowest:\n        raise",
        tests=(
            "tests/unit/cluster/allocation/test_simulated.py::test_one_card_that_is_too_slow_or_too_fast_is_refused",
        ),
    ),
    Defect(
        name="bytes-counted-on-their-way",
        promise="Cards of simulated hosts are in the time series.",
        file="src/howdah/report/phases/series.py",
        old='{name for name in names if "/" in name} or names)',
        new="names)",
        tests=("tests/unit/report/phases/test_limits.py::test_what_this_machine_carries_of_it_does_not_count_again",),
    ),
    Defect(
        name="card-one-way",
        promise="The network of simulated hosts is named as the limit of a phase.",
        file="src/howdah/report/phases/limits.py",
        old='for column in ("receive_bytes", "send_bytes")\n            ]',
        new='for column in ("receive_bytes", "receive_bytes")\n            ]',
        tests=("tests/unit/report/phases/test_limits.py::test_the_busiest_way_of_the_busiest_card_is_the_limit",),
    ),
    Defect(
        name="host-off-the-leash",
        promise="Nothing of simulated hosts is left, however their holder ends.",
        file="src/howdah/host/simulation/holder.py",
        old='("setpriv", "--pdeathsig", "KILL", *command)',
        new="command",
        tests=("tests/unit/host/test_simulation.py::test_a_holder_that_is_killed_takes_everything_with_it",),
    ),
    Defect(
        name="slow-for-ever",
        promise="The slow processors of a host are given back.",
        file="src/howdah/host/simulation/holder.py",
        old="                self._pace(name, key, getattr(self._wish, key))",
        new="                self._cards.get(key)",
        tests=("tests/unit/host/test_simulation.py::test_processors_and_disks_are_slow_and_get_back_what_they_had",),
    ),
    Defect(
        name="slow-disk-unnamed",
        promise="A host with a disk much slower than those of others is named.",
        file="src/howdah/engine/run/bounds.py",
        old="if rate < SLOW * usual)\n            if slow:",
        new="if rate < 0 * usual)\n            if slow:",
        tests=("tests/unit/engine/run/test_bounds.py::test_a_slow_disk_of_one_host_is_named",),
    ),
    Defect(
        name="forgotten-groups",
        promise="Nothing of simulated hosts is left, however their holder ends.",
        file="src/howdah/host/simulation/holder.py",
        old="if number.isdecimal() and name != number and _reserve(",
        new="if not number.isdecimal() and name != number and _reserve(",
        tests=(
            "tests/unit/host/test_simulation.py::test_the_control_groups_of_a_killed_holder_are_removed_by_the_next",
        ),
    ),
    Defect(
        name="processors-of-others-are-lost",
        promise="Other work does not lower the bound of processors.",
        file="src/howdah/host/agent/calibration.py",
        old="    return totals[0], totals[1], (after[1] - before[1])",
        new="    return totals[0], totals[1], totals[1] + 0 * (after[1] - before[1])",
        tests=("tests/unit/host/test_calibration.py::test_processors_that_others_use_are_there",),
    ),
)
