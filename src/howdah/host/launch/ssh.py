"""An agent on another host, through this machine's ssh client with the user's own configuration."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from howdah.host.launch.line import Pipes

_CONNECT_SECONDS = 15
_OPTIONS = (
    # Never a question: nobody is there to answer.
    "BatchMode=yes",
    f"ConnectTimeout={_CONNECT_SECONDS}",
    # The connection is the channel: it is not shared, and ends with its process.
    "ControlMaster=no",
    "ControlPath=none",
    # The channel's own heartbeats find a cut link; these make ssh itself end then.
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "LogLevel=ERROR",
)

# What ssh or the shell there says → what went wrong, and what to do.
_EXPLAINED = (
    (
        re.compile(r"Permission denied|Too many authentication failures"),
        "ssh is not let in without a password",
        "Make `ssh -o BatchMode=yes {target} true` work: a key of yours there, and an agent that has it here.",
    ),
    (
        re.compile(r"Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED"),
        "ssh does not know the host's key, or knows another one",
        "Log in once by hand (`ssh {target}`), and compare the key.",
    ),
    (
        re.compile(r"Could not resolve hostname"),
        "there is no host of this name",
        "Look for a slip in the name, or for what it is called in ~/.ssh/config.",
    ),
    (
        re.compile(r"Connection refused|timed out|No route to host|Network is unreachable"),
        "it cannot be reached by ssh",
        "`ssh {target} true` says more. Is it up, and is the port right?",
    ),
    (
        re.compile(r"(?:not found|No such file or directory)"),
        "there is no Python of that name",
        "Howdah needs Python 3.8 or newer there; --on hosts:FILE can name it: `python: /usr/bin/python3.9`.",
    ),
)


_SSH_FAILED = 255


def run_there(target: str, command: Sequence[str], environment: Mapping[str, str]) -> int | None:
    """Run a command on another host with the streams and the directory of this process; return its exit code. Returns
    None if ssh does not get there; ssh has printed why."""
    given = [word for option in _OPTIONS for word in ("-o", option)]
    variables = [f"{name}={value}" for name, value in environment.items()]
    there = f"cd {shlex.quote(str(Path.cwd()))} && exec {shlex.join(['env', *variables, *command])}"
    terminal = "-t" if sys.stdin.isatty() and sys.stdout.isatty() else "-T"
    code = subprocess.run(("ssh", terminal, *given, "--", target, there), check=False).returncode
    return None if code == _SSH_FAILED else code


@dataclass(frozen=True, slots=True)
class SshLauncher:
    """See `howdah.host.launch.Launcher`. `target` is a host as ssh takes it (`ann@node1`, a name of ~/.ssh/config),
    `python` the interpreter there. `options` are additional arguments of ssh."""

    target: str
    port: int | None = None
    python: str = "python3"
    options: tuple[str, ...] = ()

    def connect(self, program: str) -> Pipes:
        return Pipes(self.command(program), heard=True)

    def command(self, program: str) -> Sequence[str]:
        """Return the command here that runs `program` in an interpreter there."""
        given = [word for option in _OPTIONS for word in ("-o", option)]
        port = () if self.port is None else ("-p", str(self.port))
        # The login shell there reads the line, whatever shell it is: single quotes mean the same in all of them.
        # -I: no module of the home directory.
        there = f"exec {self.python} -I -u -c {shlex.quote(program)}"
        # -T: no terminal. --: a name that looks like an option is none.
        return ("ssh", "-T", *given, *port, *self.options, "--", self.target, there)

    def explain(self, said: str) -> tuple[str, str | None]:
        last = said.strip().splitlines()[-1] if said.strip() else "ssh ended at once"
        for pattern, what, hint in _EXPLAINED:
            if pattern.search(said):
                return f"{what} ({last})", hint.format(target=self.target)
        return last, f"`ssh -o BatchMode=yes {self.target} {self.python} --version` says more."
