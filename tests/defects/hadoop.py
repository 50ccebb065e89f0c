"""Defects of how Hadoop is fetched, configured and asked."""

from __future__ import annotations

from tests.defects.defect import Defect

DEFECTS = (
    Defect(
        name="jar-not-verified",
        promise="Every jar of the managed Hadoop is compared with the SHA-256 of the lock before it is used.",
        file="src/howdah/hadoop/distribution/fetch.py",
        old="if damage(part, artifact.size, artifact.sha256, None) is None:",
        new="if part.stat().st_size == artifact.size:",
        tests=(
            "tests/unit/hadoop/distribution/test_fetch.py::test_a_corrupt_jar_in_the_repository_is_deleted_and_fetched_again",
        ),
    ),
    Defect(
        name="verify-trusts-times",
        promise="`howdah hadoop verify` finds damage that size and time do not show.",
        file="src/howdah/hadoop/distribution/distribution.py",
        old='None if verify else stamp["mtime_ns"][artifact.in_home]',
        new='stamp["mtime_ns"][artifact.in_home]',
        tests=("tests/faults/test_cache.py::test_verify_finds_damage_that_size_and_time_do_not_show",),
    ),
    Defect(
        name="final-setting-overridden",
        promise="A final property of a cluster's configuration is read as Hadoop reads it.",
        file="src/howdah/hadoop/configuration/site.py",
        old="for key, value in site.properties.items() if key not in final}",
        new="for key, value in site.properties.items()}",
        tests=(
            "tests/unit/hadoop/configuration/test_site.py::test_a_directory_is_read_with_later_files_over_earlier_ones",
        ),
    ),
    Defect(
        name="secrets-copied",
        promise="What clients get of a configuration directory has no secret of a daemon.",
        file="src/howdah/hadoop/configuration/site.py",
        old="    for file in map(directory.joinpath, _BESIDE):",
        new='    for file in directory.glob("*.xml"):',
        tests=(
            "tests/unit/hadoop/configuration/test_site.py::test_clients_get_what_they_read_and_no_secret_of_a_daemon",
        ),
    ),
    Defect(
        name="slip-passes",
        promise="A Hadoop key that is spelled almost like a real one is refused.",
        file="src/howdah/hadoop/configuration/keys.py",
        old="(slips := _distance(key, name)) <= _SLIP]",
        new="(slips := _distance(key, name)) < _SLIP]",
        tests=("tests/unit/hadoop/configuration/test_keys.py::test_a_slip_is_caught",),
    ),
    Defect(
        name="part-taken-for-the-whole",
        promise="An answer that ends before its announced length is an error, never a shorter answer.",
        file="src/howdah/hadoop/interfaces/http.py",
        old="        return response.read()\n    except IncompleteRead as error:\n",
        new="        return response.read()\n    except IncompleteRead as error:\n"
        "        if error.partial:\n            return error.partial\n",
        tests=("tests/unit/hadoop/interfaces/test_http.py::test_a_part_is_no_answer",),
    ),
    Defect(
        name="memory-overcommitted",
        promise="The containers and daemons of a cluster fit the memory of the machine together.",
        file="src/howdah/hadoop/configuration/sizing.py",
        old="return -(-processors // nodes)",
        new="return processors",
        tests=("tests/unit/hadoop/configuration/test_sizing.py::test_all_of_it_fits_the_memory",),
    ),
    Defect(
        name="times-by-several-clocks",
        promise="Times of jobs are corrected for the clocks of hosts.",
        file="src/howdah/hadoop/history/job_history.py",
        old="                moved[name] = fields[name] - round(1000 * ahead)",
        new="                moved[name] = fields[name] + round(1000 * ahead)",
        tests=(
            "tests/unit/hadoop/history/test_job_history.py::test_times_are_corrected_by_the_clock_that_measured_them",
        ),
    ),
    Defect(
        name="shortest-link",
        promise="Paths are found where a mount table of viewfs has them.",
        file="src/howdah/hadoop/configuration/mounts.py",
        old="        point = max(points, key=len)",
        new="        point = min(points, key=len)",
        tests=("tests/unit/hadoop/configuration/test_mounts.py::test_the_longest_link_has_the_path",),
    ),
    Defect(
        name="unset-reference",
        promise="A reference to a key that nobody sets is named.",
        file="src/howdah/hadoop/configuration/site_warnings.py",
        old="if first not in _KNOWN and first + rest not in {*places, *given}:",
        new="if first in _KNOWN and first + rest not in {*places, *given}:",
        tests=(
            "tests/unit/hadoop/configuration/test_site_warnings.py::test_a_reference_that_nobody_sets_is_named_once",
        ),
    ),
)
