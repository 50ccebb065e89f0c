from __future__ import annotations

import threading
import time

from howdah.host.agent.heartbeat import Heartbeat
from tests.contract.test_host import wait_for


def test_it_beats_and_is_lost_once_after_the_silence() -> None:
    beats: list[float] = []
    lost: list[float] = []
    began = time.monotonic()
    Heartbeat(0.5, lambda: beats.append(time.monotonic()), lambda: lost.append(time.monotonic()))
    wait_for(lambda: bool(lost))
    assert lost[0] - began >= 0.5
    assert beats
    time.sleep(0.6)
    assert len(lost) == 1


def test_whoever_is_heard_is_not_lost() -> None:
    lost = threading.Event()
    heartbeat = Heartbeat(0.5, lambda: None, lost.set)
    for _ in range(30):
        heartbeat.heard()
        time.sleep(0.04)
    assert not lost.is_set()
    heartbeat.stop()
    time.sleep(0.7)
    assert not lost.is_set()
    heartbeat.stop()


def test_a_beat_that_waits_does_not_keep_it_from_listening() -> None:
    full, lost = threading.Event(), threading.Event()

    def wait() -> None:
        full.wait()

    Heartbeat(0.3, wait, lost.set)
    assert lost.wait(30)
    full.set()
