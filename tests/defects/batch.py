"""Defects of clusters in batch jobs."""

from __future__ import annotations

from tests.defects.defect import Defect

_RECEPTION = "tests/unit/host/test_reception.py"
_BATCH = "tests/unit/host/test_batch.py"
_PERSISTENCE = "tests/unit/cluster/deployment/test_persistence.py"

_ALLOCATION = "tests/unit/cluster/allocation/test_batch.py"

DEFECTS = (
    Defect(
        name="profiles-that-speak",
        promise="Agents of a site with modules hear nothing that the profile of a shell prints.",
        file="src/howdah/cluster/allocation/batch.py",
        old="""_WITH_MODULES = 'exec 3>&1 >&2;""",
        new="""_WITH_MODULES = 'exec 3>&1;""",
        tests=(f"{_ALLOCATION}::test_what_ssh_starts_loads_the_modules_and_says_nothing_else",),
    ),
    Defect(
        name="scripts-without-modules",
        promise="A job that Howdah submits loads the modules of the site.",
        file="src/howdah/cluster/allocation/batch.py",
        old='        shell = "bash -l" if modules else "sh"',
        new='        shell, modules = "sh", ""',
        tests=(f"{_ALLOCATION}::test_the_script_of_a_submitted_job_loads_the_modules",),
    ),
    Defect(
        name="callers-without-a-token",
        promise="Nobody gets through to a cluster without its token.",
        file="src/howdah/host/reception.py",
        old='            if not hmac.compare_digest(str(hello["token"]).encode(), self._token.encode()):',
        new='            if not hello["token"]:',
        tests=(f"{_RECEPTION}::test_who_has_no_token_does_not_get_through",),
    ),
    Defect(
        name="any-certificate",
        promise="An agent answers to nobody but the one who has invited it.",
        file="src/howdah/host/agent/caller.py",
        old='    context.load_verify_locations(cadata=given["certificate"])',
        new="    context.verify_mode = ssl.CERT_NONE",
        tests=(f"{_RECEPTION}::test_a_caller_believes_one_certificate_alone",),
    ),
    Defect(
        name="claims-that-stay",
        promise="Agents of a batch job leave no data when their channel ends.",
        file="src/howdah/host/agent/main.py",
        old="        self._claimed[path] = owner",
        new="        self._claimed[owner] = owner",
        tests=(f"{_RECEPTION}::test_what_was_claimed_is_gone_when_the_one_who_waits_is_killed",),
    ),
    Defect(
        name="signals-unheard",
        promise="A batch system that ends a job is heard of.",
        file="src/howdah/host/agent/main.py",
        old="    signal.signal(signal.SIGTERM, lambda *_: agent.told_to_end.set())",
        new="    signal.signal(signal.SIGTERM, lambda *_: None)",
        tests=(f"{_RECEPTION}::test_a_batch_system_that_ends_a_job_is_heard_of_and_the_channel_stays",),
    ),
    Defect(
        name="hosts-uncounted",
        promise="A list of hosts that Slurm does not expand as it counts is an error, never one host in silence.",
        file="src/howdah/host/batch/slurm.py",
        old="            if len(names) != seen.hosts or",
        new="            if not names or",
        tests=(f"{_BATCH}::test_names_that_are_not_as_many_as_hosts_are_refused",),
    ),
    Defect(
        name="hosts-of-slots",
        promise="A host that PBS_NODEFILE has for each slot is one host.",
        file="src/howdah/host/batch/pbs.py",
        old='    names = tuple(dict.fromkeys(line.strip() for line in text.split("\\n") if line.strip()))',
        new='    names = tuple(line.strip() for line in text.split("\\n") if line.strip())',
        tests=(f"{_BATCH}::test_a_file_of_nodes",),
    ),
    Defect(
        name="ended-jobs-that-run",
        promise="A job that has ended is not taken for one that waits.",
        file="src/howdah/host/batch/slurm.py",
        old='        found = [one for one in self._squeue("-j", job) if one[0].runs or one[0].state in _WAITING]',
        new='        found = self._squeue("-j", job)',
        tests=(f"{_BATCH}::test_a_job_that_has_ended_is_none",),
    ),
    Defect(
        name="locks-taken-twice",
        promise="Of two clusters that find a dead lock of persistent data, one takes it.",
        file="src/howdah/cluster/deployment/persistence.py",
        old="        if (seen := operations.read_file(host, aside)) != judged and not",
        new="        if (seen := operations.read_file(host, aside)) is None and not",
        tests=(f"{_PERSISTENCE}::test_a_lock_that_another_cluster_has_just_taken_is_given_back",),
    ),
    Defect(
        name="jobs-that-are-ending",
        promise="A job that is being ended is not over.",
        file="src/howdah/host/batch/slurm.py",
        old='        return all(seen.state in _OVER for seen, _ in self._squeue("-j", job))',
        new="        return self.look(job) is None",
        tests=(f"{_PERSISTENCE}::test_the_lock_of_a_job_that_may_run_is_never_taken",),
    ),
    Defect(
        name="locks-of-others-taken",
        promise="The lock of persistent data is never taken from a cluster that may live.",
        file="src/howdah/cluster/deployment/persistence.py",
        old="        if self.machine != platform.node():\n            return False",
        new="        if self.machine != platform.node():\n            return True",
        tests=(f"{_PERSISTENCE}::test_the_lock_of_another_machine_is_never_taken",),
    ),
    Defect(
        name="nodes-beside-their-data",
        promise="A DataNode's directory follows its data.",
        file="src/howdah/cluster/deployment/persistence.py",
        old="        place = next((one for one in free if name in here[one.host]), None)",
        new="        place = next(iter(free), None)",
        tests=(f"{_PERSISTENCE}::test_nodes_go_where_their_data_are",),
    ),
    Defect(
        name="staged-from-one-host",
        promise="Files are staged only where all hosts see the same.",
        file="src/howdah/engine/staging/listing.py",
        old="        if seen[name].keys() != seen[first].keys():",
        new="        if not seen[name].keys():",
        tests=("tests/unit/engine/staging/test_listing.py::test_hosts_that_see_different_files_are_a_problem",),
    ),
    Defect(
        name="changed-sources",
        promise="A source that is changed while it is copied is no good copy.",
        file="src/howdah/engine/staging/stage.py",
        old="        if self._source() != files:",
        new="        if self._source().keys() != files.keys():",
        tests=("tests/system/test_staging.py::test_a_source_that_changes_is_told",),
    ),
    Defect(
        name="other-versions-data",
        promise="Data of another version of Hadoop are refused.",
        file="src/howdah/cluster/deployment/persistence.py",
        old="        if record.hadoop != hadoop:",
        new="        if record.hadoop == hadoop and not record.user:",
        tests=(f"{_PERSISTENCE}::test_data_of_others_are_refused",),
    ),
    Defect(
        name="granted-memory-forgotten",
        promise="A job of Slurm uses the memory that it was granted.",
        file="src/howdah/host/agent/kernel.py",
        old='environment.get("HOWDAH_" + name) or environment.get(name, "")',
        new='environment.get(name, "")',
        tests=("tests/unit/host/test_machine.py::test_what_a_batch_system_granted",),
    ),
    Defect(
        name="copies-without-containers",
        promise="Copies at the end of a job have the containers for themselves.",
        file="src/howdah/cluster/supervision/supervisor.py",
        old="                assembly.kill_applications()\n",
        new="                pass\n",
        tests=("tests/unit/cluster/supervision/test_supervisor.py::test_copies_begin_when_nothing_else_runs",),
    ),
    Defect(
        name="half-formatted-left",
        promise="A first start that fails leaves no half-formatted data.",
        file="src/howdah/cluster/deployment/persistence.py",
        old="            self._forget(self._plan)\n",
        new="            pass\n",
        tests=(f"{_PERSISTENCE}::test_a_cluster_that_does_not_come_up_leaves_nothing_there",),
    ),
    Defect(
        name="leash-unwatched",
        promise="A deleted job of PBS takes its cluster with it at once.",
        file="src/howdah/cluster/walltime.py",
        old="        if self._job_ends.is_set():\n            return True\n",
        new="",
        tests=("tests/unit/cluster/test_walltime.py::test_the_agent_that_ends_with_its_job_is_enough",),
    ),
)
