"""Real servers of the protocols that meters speak, started for a test and ended with it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import create_connection, create_server
from urllib.request import urlopen

from tests.meters.curve import watts

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
OID = "1.3.6.1.4.1.318.1.1.26.4.3.1.5.1"
"""The power of APC's rPDU2, in steps of 10 W."""
_BIN = Path(sys.executable).parent


def free_port() -> int:
    with create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def _running(*command: str, port: int | None, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=ROOT)
    try:
        deadline = time.monotonic() + 30
        while port is not None:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            try:
                create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def bmc(place: Path, state: str = "activated") -> Iterator[int]:
    """A BMC that ipmitool reads; its port. The user is `reader`, the password `secret`."""
    port = free_port()
    command = (sys.executable, "-m", "tests.meters.bmc", str(port), state)
    with _running(*command, port=None, log=place / "bmc.log"):
        yield port


@contextmanager
def redfish(place: Path) -> Iterator[int]:
    """A BMC that speaks Redfish; its port. The reading is written twenty times a second."""
    port = free_port()
    files = place / "mockup"
    chassis = "/redfish/v1/Chassis"
    _resource(files, chassis, {"Members": [{"@odata.id": f"{chassis}/1U"}]})
    environment = f"{chassis}/1U/EnvironmentMetrics"
    _resource(files, f"{chassis}/1U", {"Id": "1U", "EnvironmentMetrics": {"@odata.id": environment}})
    _resource(files, "/redfish/v1", {"Chassis": {"@odata.id": chassis}})
    stop = threading.Event()

    def follow() -> None:
        while not stop.wait(0.05):
            _resource(files, environment, {"PowerWatts": {"Reading": round(watts(time.time()))}})

    _resource(files, environment, {"PowerWatts": {"Reading": round(watts(time.time()))}})
    thread = threading.Thread(target=follow)
    thread.start()
    try:
        command = (str(_BIN / "sushy-static"), "-i", "127.0.0.1", "-p", str(port), "-m", str(files / "redfish/v1"))
        with _running(*command, port=port, log=place / "redfish.log"):
            yield port
    finally:
        stop.set()
        thread.join()


def _resource(files: Path, path: str, content: dict[str, object]) -> None:
    place = files / path.strip("/")
    place.mkdir(parents=True, exist_ok=True)
    fresh = place / ".new"
    fresh.write_text(json.dumps({"@odata.id": path, **content}))
    fresh.replace(place / "index.json")


@contextmanager
def pdu(place: Path, gain: float = 1.0) -> Iterator[int]:
    """A distribution unit that speaks SNMP; its port. Everything it says is too high by `gain`."""
    port = free_port()
    data = place / "pdu"
    data.mkdir()
    script = f"{sys.executable} {HERE / 'curve.py'} {gain}"
    (data / "public.snmprec").write_text(f"{OID}|2:subprocess|{script}\n")
    command = (
        *(str(_BIN / "snmpsim-command-responder"), f"--data-dir={data}", f"--agent-udpv4-endpoint=127.0.0.1:{port}"),
        *(f"--cache-dir={place / 'cache'}", "--process-user=root", "--process-group=root"),
    )
    with _running(*command, port=None, log=place / "pdu.log"):
        yield port


@contextmanager
def prometheus(place: Path) -> Iterator[int]:
    """A Prometheus that scrapes a meter once a second; its port."""
    port, exporter = free_port(), _exporter()
    threading.Thread(target=exporter.serve_forever).start()
    config = place / "prometheus.yml"
    target = f"127.0.0.1:{exporter.server_port}"
    config.write_text(
        "global: {scrape_interval: 1s}\n"
        f'scrape_configs: [{{job_name: power, static_configs: [{{targets: ["{target}"]}}]}}]\n'
    )
    command = (
        *("prometheus", f"--config.file={config}", f"--storage.tsdb.path={place / 'tsdb'}"),
        f"--web.listen-address=127.0.0.1:{port}",
    )
    try:
        with _running(*command, port=port, log=place / "prometheus.log"):
            deadline = time.monotonic() + 30
            while not _scraped(port):
                assert time.monotonic() < deadline
                time.sleep(0.2)
            yield port
    finally:
        exporter.shutdown()
        exporter.server_close()


def _scraped(port: int) -> bool:
    """Whether there is a sample: the first one is not taken at once."""
    with urlopen(f"http://127.0.0.1:{port}/api/v1/query?query=node_power_watts", timeout=5) as answer:
        return bool(json.load(answer)["data"]["result"])


def _exporter() -> ThreadingHTTPServer:
    class Metrics(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f"node_power_watts {watts(time.time()):.0f}\n".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Metrics)
