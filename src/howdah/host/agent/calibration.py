"""The rates that this machine reaches at this moment: the bound next to every speed that a report shows."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import itertools
import mmap
import os
import signal
import socket
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, List, Set, Tuple

from .machine import disks_below

_PILOT_BYTES = 16 << 20
_BLOCK_BYTES = 4 << 20
_HASH_BYTES = 64 << 10
_DIRECT_BYTES = 256 << 10
_HANGS = 60
"""Seconds after which a child hangs; a busy machine may let it stand still for some."""
_READERS = 4
_HEAD_START = 0.02
"""Seconds from the forks to the common start, so that all processes are there."""


def measure(
    directories: List[str], seconds: float = 3.0, file_bytes: int = 256 << 20, only_disks: bool = False
) -> Dict[str, Any]:
    """Measure the processors, the disks under `directories` and loopback TCP. This takes about `seconds` seconds in
    all, and 0.4 times as long more for every disk after the first.

    Up to `file_bytes` are written to each disk, and twice as many must be free. With `only_disks`, nothing is written
    to file systems in memory or on a network.

    ```
    cpu_rate_one, cpu_rate_all    B/s of SHA-256 by one process, and by one process per allowed processor together
    cpu_cores_obtained            processor seconds per second that those processes obtained together
    bound_cpu_cores               the same, with what other processes had of these processors meanwhile
    bound_loopback                B/s of one TCP connection through 127.0.0.1
    how                           in words, how each was measured, or why it could not be
    places                        one for all directories on the same disks:
        directory                 the first of them
        disks                     the result of `machine.disks_below` for it
        bound_disk_write          B/s of sequential writing, fsync included
        bound_disk_read           B/s of sequential reading of the same data
        how                       as above
    seconds                       the time that all of it took
    ```

    A bound that could not be measured is absent. On a disk slower than 30 MB/s, the measurement takes longer than asked
    for. Nothing is left behind, even after SIGKILL.
    """
    start = time.monotonic()
    processors = len(os.sched_getaffinity(0))
    result: Dict[str, Any] = {"how": {}}
    result["cpu_rate_one"] = _hash_in_processes(1, seconds / 6)[0]
    rate, obtained, busy = _hash_in_processes(processors, seconds / 6)
    # The kernel counts busy time in steps of 10 ms.
    both = min(float(processors), max(obtained, busy))
    result.update(cpu_rate_all=rate, cpu_cores_obtained=obtained, bound_cpu_cores=both)
    result["how"]["cpu"] = "{} processes, SHA-256 of {} KiB blocks, {:.1f} s".format(
        processors, _HASH_BYTES >> 10, seconds / 6
    )
    result["places"] = _measure_places(directories, seconds / 5, file_bytes, only_disks)
    result["bound_loopback"] = _loopback(seconds / 6)
    result["how"]["loopback"] = "one TCP connection through 127.0.0.1, both ends in one process"
    result["seconds"] = time.monotonic() - start
    return result


def _hash_in_processes(count: int, seconds: float) -> Tuple[float, float, float]:
    """Return the bytes hashed per second, and the processor seconds per second, of `count` processes side by side. The
    last value is the processor seconds per second of everything on the allowed processors meanwhile."""
    begin = time.monotonic() + _HEAD_START
    children: Dict[int, int] = {}
    reported: Set[int] = set()
    totals = [0.0, 0.0]
    try:
        for _ in range(count):
            reader, writer = os.pipe()
            pid = os.fork()
            if pid == 0:
                _hash_and_exit(writer, begin, seconds)
            os.close(writer)
            children[pid] = reader
        time.sleep(max(0.0, begin - time.monotonic()))
        before = _busy()
        time.sleep(max(0.0, begin + seconds - time.monotonic()))
        after = _busy()
        for pid, reader in children.items():
            report = os.read(reader, 100).split()
            if len(report) != 3:
                raise OSError("a calibration process ended before its time")
            hashed, used, taken = (float(word) for word in report)
            totals[0] += hashed / taken
            totals[1] += used / taken
            reported.add(pid)
    finally:
        for pid, reader in children.items():
            os.close(reader)
            _end(pid, kill=pid not in reported)
    return totals[0], totals[1], (after[1] - before[1]) / max(after[0] - before[0], seconds / 2)


def _busy() -> Tuple[float, float]:
    """Return this moment, and the seconds that the allowed processors have worked since the start of the machine."""
    allowed = {"cpu{}".format(number) for number in os.sched_getaffinity(0)}
    with open("/proc/stat", encoding="ascii") as file:
        lines = [line.split() for line in file if line.split(" ")[0] in allowed]
    # user, nice, system, irq, softirq; not idle, iowait and steal
    ticks = sum(int(line[place]) for line in lines for place in (1, 2, 3, 6, 7))
    return time.monotonic(), ticks / os.sysconf("SC_CLK_TCK")


def _hash_and_exit(writer: int, begin: float, seconds: float) -> None:
    """Run the child, and never return. An alarm kills a child that hangs, for instance on a lock that was held at the
    fork."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(seconds) + _HANGS)
        block = bytes(_HASH_BYTES)
        time.sleep(max(0.0, begin - time.monotonic()))
        blocks, start, used = 0, time.monotonic(), time.process_time()
        while time.monotonic() - start < seconds:
            hashlib.sha256(block).digest()
            blocks += 1
        taken = time.monotonic() - start
        used = time.process_time() - used
        os.write(writer, "{} {} {}".format(blocks * _HASH_BYTES, used, taken).encode())
    finally:
        os._exit(0)


def _end(pid: int, kill: bool) -> None:
    try:
        if kill:
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass  # The agent's reaper waits for all children and was faster.


def _measure_places(directories: List[str], seconds: float, file_bytes: int, only_disks: bool) -> List[Dict[str, Any]]:
    places: List[Dict[str, Any]] = []
    known: Set[Any] = set()
    for directory in directories:
        place: Dict[str, Any] = {"directory": directory, "disks": None, "how": {}}
        try:
            place["disks"] = disks_below(directory)
            where = tuple(place["disks"] or ()) or os.stat(directory).st_dev
            if where in known or (only_disks and place["disks"] == []):
                continue
            _measure_disk(directory, seconds, file_bytes, place)
            known.add(where)
        except OSError as error:
            for bound in {"disk_write", "disk_read"} - place["how"].keys():
                place["how"][bound] = "not measured: {}".format(error)
        places.append(place)
    return places


def _measure_disk(directory: str, seconds: float, file_bytes: int, result: Dict[str, Any]) -> None:
    how = result["how"]
    facts = os.statvfs(directory)
    free = facts.f_bavail * facts.f_frsize
    if free < 2 * file_bytes:
        how["disk_write"] = how["disk_read"] = "not measured: {} MB free in {}, {} are needed".format(
            free // 1000000, directory, 2 * file_bytes // 1000000
        )
        return
    file, path = tempfile.mkstemp(prefix=".howdah-calibration-", dir=directory)
    try:
        os.unlink(path)  # At once: whatever happens, the kernel frees it when the descriptor closes.
        written, result["bound_disk_write"] = _write(file, seconds, file_bytes)
        how["disk_write"] = "{} MiB in sequence, then fsync".format(written >> 20)
        way, result["bound_disk_read"] = _read(file, seconds)
        how["disk_read"] = way + "; just written, so caches outside this kernel may have served it"
    finally:
        os.close(file)


def _write(file: int, seconds: float, most: int) -> Tuple[int, float]:
    """Return the bytes written, and B/s. A pilot shows how much can be written in the time."""
    pilot = _write_synced(file, _PILOT_BYTES)
    wanted = min(most - _PILOT_BYTES, int(pilot * seconds))
    if wanted < 2 * _PILOT_BYTES:
        return _PILOT_BYTES, pilot
    wanted -= wanted % _BLOCK_BYTES
    return wanted, _write_synced(file, wanted)


def _write_synced(file: int, size: int) -> float:
    block = bytearray(os.urandom(_BLOCK_BYTES))  # Random, for file systems that compress.
    start = time.monotonic()
    for number in range(size // _BLOCK_BYTES):
        block[:8] = number.to_bytes(8, "little")
        done = 0
        while done < _BLOCK_BYTES:
            done += os.write(file, memoryview(block)[done:])
    os.fsync(file)
    return size / (time.monotonic() - start)


def _read(file: int, seconds: float) -> Tuple[str, float]:
    """Return how the file was read, and B/s. `_READERS` blocks are on their way at a time, because most disks do more
    then."""
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    way = "O_DIRECT, 4 MiB blocks, {} at a time".format(_READERS)
    # Memory of its own is aligned to pages, as O_DIRECT wants it.
    buffers = [mmap.mmap(-1, _BLOCK_BYTES) for _ in range(_READERS)]
    start = time.monotonic()
    try:
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_DIRECT)
        first = os.preadv(file, [buffers[0]], 0)
    except OSError:
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) & ~os.O_DIRECT)
        way = "through the page cache after posix_fadvise(DONTNEED), 4 MiB blocks, {} at a time".format(_READERS)
        start = time.monotonic()
        first = os.preadv(file, [buffers[0]], 0)
    following = itertools.count(_BLOCK_BYTES, _BLOCK_BYTES)

    def read(buffer: mmap.mmap) -> int:
        total, count = 0, 1
        while count and time.monotonic() - start < seconds:
            count = os.preadv(file, [buffer], next(following))
            total += count
        return total

    with ThreadPoolExecutor(_READERS) as readers:
        total = first + sum(readers.map(read, buffers))
    return way, total / (time.monotonic() - start)


def _loopback(seconds: float) -> float:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        sender = socket.create_connection(listener.getsockname(), timeout=5.0)
        receiver, _ = listener.accept()
    receiver.settimeout(5.0)
    until = time.monotonic() + seconds

    def send() -> None:
        block = bytes(1 << 20)
        with sender:
            while time.monotonic() < until:
                sender.sendall(block)

    total, buffer, start = 0, bytearray(1 << 20), time.monotonic()
    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    with receiver:
        while True:
            count = receiver.recv_into(buffer)
            if count == 0:
                break
            total += count
    thread.join(5.0)
    return total / (time.monotonic() - start)


def disk_rates(directory: str, seconds: float = 2.0, file_bytes: int = 256 << 20) -> Dict[str, float]:
    """Return the B/s that the disk of `directory` writes and reads past the page cache in `seconds` each. The
    measurement starts after a quarter of that time, because a limit of the kernel lets some through at first. Both are
    0 for a disk that is gone. Nothing is left behind, even after SIGKILL.

    Raises OSError if the file system has no O_DIRECT, or no room for `file_bytes`.
    """
    try:
        file, path = tempfile.mkstemp(prefix=".howdah-rates-", dir=directory)
    except OSError as error:
        if error.errno == errno.EIO:
            return {"write": 0.0, "read": 0.0}
        raise
    try:
        os.unlink(path)
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_DIRECT)
        buffer = mmap.mmap(-1, _DIRECT_BYTES)
        offsets = itertools.cycle(range(0, file_bytes, _DIRECT_BYTES))
        write = _steady(lambda: os.pwritev(file, [buffer], next(offsets)), seconds)
        written = os.fstat(file).st_size
        offsets = itertools.cycle(range(0, written, _DIRECT_BYTES))
        return {"write": write, "read": _steady(lambda: os.preadv(file, [buffer], next(offsets)), seconds)}
    finally:
        os.close(file)


def _steady(move: Callable[[], int], seconds: float) -> float:
    """Return the B/s of `move`, repeated for `seconds`, after a start of a quarter of that time."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds / 4:
        move()
    total, start = 0, time.monotonic()
    while time.monotonic() - start < seconds:
        total += move()
    return total / (time.monotonic() - start)


OPERATIONS: Dict[str, Callable[..., Any]] = {"calibration.measure": measure, "calibration.disk_rates": disk_rates}
