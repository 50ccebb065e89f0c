"""Text files that jobs have written, compressed or not, for the programs of Howdah that read them."""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from howdah.errors import Untrusted, UsageError
from howdah.model.run import Check
from howdah.workload import Files, Ran, Session

_COMPRESS = "mapreduce.output.fileoutputformat.compress"
_CODEC = f"{_COMPRESS}.codec"
_PACKAGE = "org.apache.hadoop.io.compress."
_CODECS = tuple(f"{_PACKAGE}{name}" for name in ("DefaultCodec", "DeflateCodec", "GzipCodec", "BZip2Codec"))
_DECOMPRESS: Mapping[str, Callable[[bytes], bytes]] = {
    ".deflate": zlib.decompress,  # What DefaultCodec writes has zlib's head.
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
}
_PLAIN = ("", ".txt")
_COUNT = re.compile(r"[0-9]{1,18}")
_SHOWN = 80

UNCOMPRESSED = f"-D{_COMPRESS}=false"
"""The option of jobs whose output only Howdah reads."""


def check_codec(conf: Mapping[str, str]) -> None:
    """Refuse settings with which jobs write output that Howdah cannot read. Raises UsageError."""
    codec = conf.get(_CODEC, _CODECS[0]).strip()
    if conf.get(_COMPRESS, "").strip().lower() == "true" and codec not in _CODECS:
        raise UsageError(
            f"{_CODEC} is {codec}: Howdah could not read the output, which it is verified by",
            hint=f"It reads that of {', '.join(name.removeprefix(_PACKAGE) for name in _CODECS)}.",
        )


def read_text(storage: Files, path: str) -> str:
    """Return the content of a text file, decompressed as its name says. Bytes that are not UTF-8 are replaced.

    Raises:
        ClusterProblem: it is not there, or not whole.
        Untrusted: it is not what its name says, or its compression is unknown here.
    """
    content, ending = storage.read(path), PurePosixPath(path).suffix
    if ending not in _PLAIN:
        if ending not in _DECOMPRESS:
            raise Untrusted(f"{path} cannot be read: {ending} is no compression that Howdah knows")
        try:
            content = _DECOMPRESS[ending](content)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise Untrusted(f"{path} cannot be decompressed: {error}") from error
    return content.decode(errors="replace")


def parts(session: Session, directory: str, prefix: str = "part-") -> dict[str, int]:
    """Return length by name of the files that a job has written into `directory`."""
    return {file: length for file, length in session.storage.files(directory).items() if file.startswith(prefix)}


def counted_check(ran: Ran | None, length: int) -> tuple[Check, ...]:
    """Return a check that a program wrote the `length` of its output, by the counters of its jobs. Empty if no counter
    tells, as for a program that is no MapReduce job (None)."""
    if ran is None or ran.written is None:
        return ()
    written = ran.written
    return (
        Check("counted", written == length, f"{written} bytes written by the job's counters, {length} in its output"),
    )


def count_of(text: str, line: str) -> int:
    """Return the number that a job wrote as `text` in `line`. Raises Untrusted for a text that is no number."""
    if not _COUNT.fullmatch(text):
        raise Untrusted(f"a job wrote {shown(line)}, which has no count")
    return int(text)


def shown(line: str) -> str:
    """Return a line as a message quotes it."""
    return repr(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…")
