"""History files of real jobs, whole and cut off."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.hadoop.history.job_history import DamagedHistory, HostClocks, parse_history
from howdah.store.codec_job import decode_job, encode_job
from tests.unit.hadoop.interfaces.fake_server import GOLDEN, golden

FILES = sorted(path for path in GOLDEN.parent.glob("*/*.jhist") if path.stem != "killed_by_yarn")
TASK = "org.apache.hadoop.mapreduce.TaskCounter"


def job(name):
    return parse_history(golden(f"{name}.jhist"))


def parts(attempt):
    """The milliseconds of each step."""
    return {name: round(step.seconds * 1000) for name, step in attempt.steps.items()}


def test_terasort():
    it = job("terasort")
    assert (it.id, it.name, it.user, it.queue) == ("job_1795174471348_0002", "TeraSort", "root", "root.default")
    assert (it.state, it.diagnostics, it.maps, it.reduces) == ("SUCCEEDED", None, 2, 2)
    assert (it.submit, it.launch, it.finish) == (1795174552.723, 1795174557.139, 1795174566.945)
    assert it.counter(TASK, "MAP_OUTPUT_RECORDS") == 50_000
    assert it.counter(TASK, "NO_SUCH") is None
    assert it.counter("org.apache.hadoop.mapreduce.JobCounter", "TOTAL_LAUNCHED_MAPS") == 2
    assert it.map_counters[TASK]["MAP_OUTPUT_RECORDS"] == it.reduce_counters[TASK]["REDUCE_INPUT_RECORDS"] == 50_000
    assert [(attempt.id[-12:], attempt.kind, attempt.state, parts(attempt)) for attempt in it.attempts] == [
        ("2_m_000000_0", "map", "SUCCEEDED", {"map": 2490, "merge": 182}),
        ("2_m_000001_0", "map", "SUCCEEDED", {"map": 2662, "merge": 143}),
        ("2_r_000000_0", "reduce", "SUCCEEDED", {"shuffle": 1258, "merge": 65, "reduce": 714}),
        ("2_r_000001_0", "reduce", "SUCCEEDED", {"shuffle": 1372, "merge": 35, "reduce": 232}),
    ]
    # A second, speculative attempt was killed before it was launched: the history has an end of it, and no start.
    assert b"attempt_1795174471348_0002_m_000001_1" in golden("terasort.jhist")
    first = it.attempts[0]
    assert (first.task, first.node) == ("task_1795174471348_0002_m_000000", "localhost:23045")
    assert first.container == "container_1795174471348_0002_01_000002"
    assert sum(attempt.counters[TASK]["MAP_OUTPUT_RECORDS"] for attempt in it.attempts[:2]) == 50_000


@pytest.mark.promise("Times of jobs are corrected for the clocks of hosts", "reference/metrics")
def test_times_are_corrected_by_the_clock_that_measured_them():
    raw = job("terasort")
    node = raw.attempts[0].node

    def corrected(manager, seconds):
        clocks = HostClocks(manager, lambda name: seconds if name in (node, raw.master) else 0.0)
        return parse_history(golden("terasort.jhist"), clocks)

    it = corrected(0.25, -0.5)
    assert it.ahead == {"resourcemanager": 0.25, node: -0.5}
    assert (raw.submit - it.submit, raw.launch - it.launch) == pytest.approx((0.25, -0.5))
    assert it.finish - raw.finish == pytest.approx(0.5)
    assert parts(it.attempts[2]) == parts(raw.attempts[2]), "master and node are one host"
    assert decode_job(encode_job(it, phase="sort", application=None))[0] == it
    same = corrected(0.0, 0.0)
    assert (same, same.ahead) == (raw, {})


def test_borders_of_steps_are_by_the_clock_of_the_node():
    raw = job("terasort")
    [master] = {raw.master}
    others = parse_history(
        golden("terasort.jhist").replace(b"localhost", b"otherhost", 1),  # The master's, in AM_STARTED.
        HostClocks(0.0, lambda name: 0.05 if name == master else 0.0),
    )
    assert others.master != master
    assert parts(others.attempts[2]) == {"shuffle": 1208, "merge": 65, "reduce": 764}


def test_json_has_the_same_shape_as_binary():
    it = job("terasort_json")
    assert (it.state, it.maps, it.reduces, it.counter(TASK, "REDUCE_OUTPUT_RECORDS")) == ("SUCCEEDED", 2, 1, 5_000)
    assert parts(it.attempts[-1]) == {"shuffle": 1083, "merge": 25, "reduce": 158}
    assert it.counters.keys() == job("terasort").counters.keys()


def test_counters_of_other_peoples_groups_are_kept():
    group = b'{"name":"Howdah Sort","displayName":"x","counts":[{"name":"RECORDS","displayName":"y","value":7}]}'
    content = golden("terasort_json.jhist")
    end = content.rindex(b'"totalCounters"')
    at = content.index(b'"groups":[', end) + len(b'"groups":[')
    it = parse_history(content[:at] + group + b"," + content[at:])
    assert it.counter("Howdah Sort", "RECORDS") == 7
    assert it.counters.keys() - job("terasort_json").counters.keys() == {"Howdah Sort"}
    assert decode_job(encode_job(it, phase="sort", application=None))[0] == it


def test_hadoop_3_5():
    it = parse_history((GOLDEN.parent / "3.5.0/terasort.jhist").read_bytes())
    assert (it.state, round(it.seconds * 1000), len(it.attempts)) == ("SUCCEEDED", 10_772, 4)
    assert it.counter(TASK, "REDUCE_OUTPUT_RECORDS") == 5_000


def test_a_map_of_a_job_without_reduces_is_one_step():
    it = job("teragen")
    assert (it.maps, it.reduces) == (2, 0)
    assert [list(attempt.steps) for attempt in it.attempts] == [["map"], ["map"]]
    assert all(attempt.steps["map"] == attempt.whole for attempt in it.attempts)


def test_a_failed_attempt_of_a_job_that_succeeded():
    it = job("failed_attempt")
    assert it.state == "SUCCEEDED"
    failed, again, _ = it.attempts
    assert (failed.state, failed.task == again.task, again.state) == ("FAILED", True, "SUCCEEDED")
    assert (failed.steps, failed.counters) == ({}, {})
    assert failed.error is not None
    assert "subprocess failed with code 3" in failed.error
    assert (failed.node, round(failed.whole.seconds, 3)) == ("localhost:23045", 1.202)


def test_a_failed_job():
    it = job("failed")
    assert it.state == "FAILED"
    assert it.diagnostics is not None
    assert it.diagnostics.startswith("Task failed task_1795174471348_0007_m_000000")
    assert it.counters == it.map_counters == {}
    # Its reduce was never launched: the history has an end of it, and no start.
    assert [(attempt.kind, attempt.state) for attempt in it.attempts] == [("map", "FAILED")] * 2


def test_a_killed_job():
    it = job("killed")
    assert (it.state, it.counters) == ("KILLED", {})
    assert it.diagnostics is not None
    assert "received Kill" in it.diagnostics
    assert [attempt.state for attempt in it.attempts] == ["SUCCEEDED", "SUCCEEDED", "KILLED"]


def test_a_job_whose_master_was_started_twice():
    it = job("restarted")
    assert (it.state, it.diagnostics) == ("SUCCEEDED", "The ApplicationMaster was started 2 times.")
    # The second master took the maps over from the first one's history.
    job_of_container = [attempt.container.split("_", 2)[2] for attempt in it.attempts if attempt.container]
    assert job_of_container == ["0002_01_000002", "0002_01_000003", "0002_02_000002"]


def test_what_yarn_killed_has_no_end():
    with pytest.raises(DamagedHistory) as raised:
        job("killed_by_yarn")
    assert raised.value.event == 10
    assert "event 10 (MAP_ATTEMPT_STARTED) at byte 8800 of 8800: the end of the job is missing" in raised.value.message


@pytest.mark.parametrize(("name", "events"), [("terasort", 23), ("terasort_json", 18)])
def test_cut_off_anywhere_is_never_a_job(name, events):
    whole = golden(f"{name}.jhist")
    last = 0
    # Every byte of the end, where the event of the job's end is, and every 53rd before it.
    for size in [*range(0, len(whole) - 300, 53), *range(len(whole) - 300, len(whole) - 1)]:
        with pytest.raises(DamagedHistory) as raised:
            parse_history(whole[:size])
        assert raised.value.event >= last
        last = raised.value.event
    assert last == events - 1


@given(st.data())
def test_a_byte_that_changed_raises_nothing_else(data):
    """A damaged file may still be readable; it must not fail in another way."""
    whole = bytearray(golden("failed.jhist"))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))
    with suppress(DamagedHistory):
        parse_history(bytes(whole))


def test_an_attempt_without_an_end_lasts_until_the_job_ends():
    lines = golden("terasort_json.jhist").splitlines(keepends=True)
    kept = [line for line in lines if b"REDUCE_ATTEMPT_FINISHED" not in line[:40]]
    assert len(kept) == len(lines) - 1
    it = parse_history(b"".join(kept))
    last = it.attempts[-1]
    assert (last.state, last.whole.end, last.node, last.steps) == ("UNFINISHED", it.finish, None, {})
    assert last.error is not None
    assert "no end" in last.error


def test_a_map_whose_output_was_lost_later_is_failed():
    lines = golden("terasort_json.jhist").splitlines(keepends=True)
    end = {
        "taskid": "t", "taskType": "MAP", "attemptId": "attempt_1795174471348_0005_m_000001_0", "status": "FAILED",
        "finishTime": 1795174608000, "hostname": "localhost", "port": 23045, "error": "Too many fetch failures.",
    }  # fmt: skip
    event = {"type": "MAP_ATTEMPT_FAILED", "event": {"org.apache.hadoop.X": end}}
    first, *_ = parse_history(b"".join([*lines[:-1], json.dumps(event).encode() + b"\n", lines[-1]])).attempts
    assert (first.id[-4:], first.state, first.error) == ("01_0", "FAILED", "Too many fetch failures.")
    assert (first.whole.end, first.steps, first.counters) == (1795174608.0, {}, {})


def test_clocks_that_contradict_give_no_steps():
    changed = golden("terasort_json.jhist").replace(b'"mapFinishTime":1795174605849', b'"mapFinishTime":1795174600000')
    first, second, _ = parse_history(changed).attempts
    assert (first.state, first.steps, list(second.steps)) == ("SUCCEEDED", {}, ["map", "merge"])


def other(name):
    return (GOLDEN.parent / "others" / name).read_bytes()


def refusal(content):
    with pytest.raises(DamagedHistory) as raised:
        parse_history(content)
    return raised.value.message, raised.value.hint


@pytest.mark.promise("A job history that cannot be read says what kind of file it is", "CHANGELOG")
def test_what_is_no_history_is_told_apart_and_says_what_to_do():
    behind_text = other("text_before.txt")
    assert refusal(b"")[0] == "not a history file: it is empty (0 bytes)"
    assert refusal(b"\n\n")[0] == "not a history file: it is empty (2 bytes)"
    message, hint = refusal(other("mapreduce1.log"))
    assert message == 'not a history file of YARN: MapReduce 1 wrote it (Meta VERSION="1" .)'
    assert hint.startswith("Run the job on YARN (Hadoop 2 or 3)")
    message, hint = refusal(behind_text)
    assert message == "not a history file: 800 bytes stand before its line Avro-Json, the first being '<!--'"
    assert hint.startswith("Delete that text")
    message, hint = refusal(b"<html>\n</html>\n")
    assert message == "not a history file: its first line is '<html>', neither Avro-Binary nor Avro-Json"
    assert hint.startswith("Give the file")


def test_a_history_that_somebody_changed_is_not_called_cut_off():
    message, hint = refusal(other("text_before.txt")[800:])
    assert message.startswith("the history is damaged, whole up to event 6 (TASK_STARTED) at byte 9416 of ")
    assert hint.startswith("Something has changed the file")


@pytest.mark.promise("A failed job without diagnostics says that its history gives no reason", "CHANGELOG")
def test_a_failed_job_without_diagnostics_says_that_its_history_gives_no_reason():
    it = parse_history(other("failed_without_reason.jhist"))
    assert (it.state, it.diagnostics) == (
        "FAILED",
        "The history gives no reason: it has no diagnostics of the job.",
    )


WHOLE = [path.read_bytes() for path in FILES]


def read(content):
    try:
        return parse_history(content)
    except DamagedHistory as error:
        return error


@given(st.sampled_from(WHOLE).flatmap(lambda whole: st.tuples(st.just(whole), st.integers(0, len(whole)))))
def test_a_truncated_history_is_cut_off_and_nothing_else(truncated):
    whole, size = truncated
    found = read(whole[:size])
    if isinstance(found, DamagedHistory):
        assert "The job may still run" in str(found.hint)
        assert ("cut off" in found.message) == (size > 0)
    else:
        assert found == parse_history(whole)


def test_other_files_are_refused():
    for content in (b"", b"Avro-Binary\n", b"<html>\n</html>\n", b"Avro-Binary\n{}\nx", b'Avro-Json\n""\n{"type":1}\n'):
        with pytest.raises(DamagedHistory, match="not a history file"):
            parse_history(content)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_survives_the_run_directory(path):
    it = parse_history(path.read_bytes())
    charge = {"id": "application_1_0001", "memory_seconds": 5, "vcore_seconds": 1}
    record = json.loads(json.dumps(encode_job(it, phase="sort", application=charge)))
    assert decode_job(record) == (it, "sort", charge)
    for attempt in it.attempts:
        borders = [step.start for step in attempt.steps.values()][1:]
        assert borders == [step.end for step in attempt.steps.values()][:-1]
