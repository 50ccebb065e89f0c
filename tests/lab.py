"""Hosts that are network namespaces of this machine, each with an ssh server; only root can make them."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.sshd import ssh_files, ssh_wrapper, wait_for_server

_SSHD = "/usr/sbin/sshd"


@dataclass(frozen=True)
class Lab:
    """Hosts by name with their addresses; `path` is a directory whose `ssh` reaches them."""

    addresses: dict[str, str]
    path: Path
    tag: str
    uid: int = 0
    """Who runs what ssh starts there."""

    def run(self, name: str, *command: str) -> None:
        """Runs a command in the network of a host."""
        _run(*self.inside(name), *command)

    def inside(self, name: str) -> tuple[str, ...]:
        """The words before a command that runs in the network of a host."""
        return ("ip", "netns", "exec", f"hd{self.tag}-{name}")

    def bytes_sent_to_hosts(self) -> int:
        """What this machine has sent to the hosts so far; what they send to each other does not count."""
        return int(Path(f"/sys/class/net/hdbr{self.tag}/statistics/tx_bytes").read_text())

    @property
    def environment(self) -> dict[str, str]:
        """With which commands reach the hosts by name."""
        return {"PATH": f"{self.path}:{os.environ['PATH']}"}


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)


@contextmanager
def lab(
    directory: Path,
    names: Sequence[str],
    user: str | None = None,
    settings: Mapping[str, str] | None = None,
    *,
    lying: bool = False,
) -> Iterator[Lab]:
    """So many hosts, whose files are in `directory`; all of it is gone afterwards. ssh comes as `user`, who is known on
    these hosts alone, and who must be able to read in `directory`. `settings` are more lines for the server of some
    hosts. For `lying` hosts, every address has the name of another host, every name the address of another, and their
    own name the address of nobody."""
    tag = f"{os.getpid() % 10000}"
    net = f"10.{77 + os.getpid() % 100}.{os.getpid() // 100 % 250}"
    bridge = f"hdbr{tag}"
    ssh_files(directory)
    with ExitStack() as made:
        _run("ip", "link", "add", bridge, "type", "bridge")
        made.callback(_run, "ip", "link", "del", bridge)
        _run("ip", "addr", "add", f"{net}.254/24", "dev", bridge)
        _run("ip", "link", "set", bridge, "up")
        addresses = {name: f"{net}.{number}" for number, name in enumerate(names, start=1)}
        for number, (name, address) in enumerate(addresses.items(), start=1):
            space, inside, outside = f"hd{tag}-{name}", "eth0", f"hd{tag}v{number}"
            _run("ip", "netns", "add", space)
            made.callback(_run, "ip", "netns", "del", space)
            _run("ip", "link", "add", outside, "type", "veth", "peer", "name", inside, "netns", space)
            _run("ip", "link", "set", outside, "master", bridge, "up")
            for command in (
                ("addr", "add", f"{address}/24", "dev", inside),
                ("link", "set", inside, "up"),
                ("link", "set", "lo", "up"),
            ):
                _run("ip", "-n", space, *command)
            etc = None if user is None else _add_user(directory, user)
            if lying:
                etc = directory / "etc"
                etc.mkdir(exist_ok=True)
                shifted = zip(addresses.values(), [*names[1:], names[0]], strict=True)
                lines = ["127.0.0.1 localhost", *(f"{number} {other}" for number, other in shifted)]
                lines.append(f"10.255.255.1 {socket.gethostname()}")
                (etc / "hosts").write_text("\n".join((*lines, "")))
            _serve(made, directory, space, name, address, etc, (settings or {}).get(name, ""))
        hosts = "".join(f"Host {name}\n  HostName {address}\n  Port 22\n" for name, address in addresses.items())
        client = directory / "client"
        known = "" if user is None else f"Host *\n  User {user}\n"
        client.write_text(hosts + known + client.read_text())
        key = (directory / "host_key.pub").read_text()
        (directory / "known_hosts").write_text("".join(f"{address} {key}" for address in addresses.values()))
        yield Lab(addresses, ssh_wrapper(directory), tag, 0 if user is None else _UID)


_UID = 47110
_WITH_ETC = """
for file in "$1"/*; do mount --bind "$file" "/etc/${file##*/}"; done
shift; exec "$@"
"""


def _add_user(directory: Path, user: str) -> Path:
    """Files of /etc in which there is one user more, and a home of that user."""
    etc, home = directory / "etc", directory / "home"
    etc.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    os.chown(home, _UID, _UID)
    lines = {
        "passwd": f"{user}:x:{_UID}:{_UID}::{home}:/bin/sh",
        "group": f"{user}:x:{_UID}:",
        "shadow": f"{user}:*:19000:0:99999:7:::",
    }
    for name, line in lines.items():
        (etc / name).write_text(f"{Path('/etc', name).read_text().rstrip()}\n{line}\n")
    (etc / "shadow").chmod(0o600)
    return etc


def _serve(made: ExitStack, directory: Path, space: str, name: str, address: str, etc: Path | None, more: str) -> None:
    """Starts the server of a host, which sees the files in `etc` in its /etc."""
    config = directory / f"sshd_{name}"
    text = (directory / "sshd_config").read_text()
    config.write_text(f"{text.replace('ListenAddress 127.0.0.1', 'ListenAddress 0.0.0.0')}{more}\n")
    log = made.enter_context((directory / f"{name}.log").open("wb"))
    command = [_SSHD, "-D", "-e", "-f", str(config)]
    if etc is not None:
        command = ["unshare", "--mount", "sh", "-c", _WITH_ETC, "sh", str(etc), *command]
    command = ["ip", "netns", "exec", space, *command]
    server = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL)

    def end() -> None:
        server.terminate()
        server.wait(20)

    made.callback(end)
    wait_for_server(address, 22, server, directory / f"{name}.log")
