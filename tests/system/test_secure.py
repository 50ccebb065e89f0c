"""A cluster that is closed to everybody but its owner."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from howdah.hadoop.distribution.spark import find_spark
from howdah.hadoop.interfaces.access import cookie
from howdah.host.user import process_user
from howdah.store import read_run
from tests.system.intruder import intrude, local_ways, ways
from tests.system.kept import Kept
from tests.system.running import Howdah, below, listening

pytestmark = pytest.mark.daemons

_PLANTED = "planted-for-nobody-to-see"
_STREAMING = "$HADOOP_HOME/share/hadoop/tools/lib/hadoop-streaming-*.jar"


@pytest.fixture(scope="module")
def shut(howdah: Howdah) -> Iterator[dict[str, Any]]:
    """What `up --json` says of a secured cluster of one node."""
    manifest: dict[str, Any] = howdah("up", "--name", "shut", "--secure", "--json").json()
    yield manifest
    howdah("down", "--name", "shut")


@pytest.fixture(scope="module")
def run(howdah: Howdah, shut: dict[str, Any]) -> Path:
    """A TeraSort on it, with our plugins."""
    arguments = ("--size", "smoke", "--cluster", "shut", "--accelerator", "sort", "--json")
    said = howdah("run", "terasort", *arguments, "--conf", f"fs.s3a.secret.key={_PLANTED}").ok()
    assert _PLANTED not in said.out + said.err
    record = said.json()
    return Path(record["runs"][0]["path"])


@dataclass(frozen=True, slots=True)
class Job:
    """A job whose map is done, and whose reduce waits for the file `gate`. It fills the cluster."""

    id: str
    master: int
    gate: Path


@pytest.fixture(scope="module")
def job(howdah: Howdah, shut: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    place = tmp_path_factory.mktemp("job")
    gate, reduce = place / "gate", place / "reduce.sh"
    (place / "in").write_text("a\nb\n")
    reduce.write_text(f"#!/bin/sh\nuntil [ -e {gate} ]; do sleep 0.2; done\nexec cat\n")
    reduce.chmod(0o755)
    words = f"-input file://{place}/in -output /gate -mapper cat -reducer {reduce}"
    command = f"exec hadoop jar {_STREAMING} -D mapreduce.job.reduces=1 {words}"
    client = howdah.start("exec", "--name", "shut", "--", "sh", "-c", command)
    try:
        yield waiting(shut, gate)
    finally:
        gate.touch()
        client.kill()
        client.wait()


def waiting(shut: dict[str, Any], gate: Path) -> Job:
    """The job, once its reduce has started."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        processes = below(daemon["pid"] for daemon in shut["daemons"])
        masters = [pid for pid, command in processes.items() if re.match(r"\S*/java .*MRAppMaster", command)]
        for command in processes.values():
            if masters and (found := re.search(r"YarnChild .* attempt_(\d+_\d+)_r_000000_0", command)):
                return Job(found[1], masters[0], gate)
        time.sleep(0.2)
    raise AssertionError("no reduce within two minutes")


def conf_of(howdah: Howdah) -> Path:
    return howdah.home / "clusters" / "shut" / "conf"


def status_of(url: str, header: str | None = None, **headers: str) -> int:
    """What a web server answers to somebody who believes every certificate."""
    context = ssl._create_unverified_context()
    request = urllib.request.Request(url, headers=headers if header is None else {"Cookie": header, **headers})
    try:
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:
            status: int = answer.status
            return status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def said_by(address: str, port: int, words: bytes) -> bytes:
    """The beginning of what a server answers to `words`; nothing where it hangs up."""
    with socket.create_connection((address, port), timeout=20) as connection, suppress(ConnectionResetError):
        connection.sendall(words)
        return connection.recv(1000)
    return b""


@pytest.mark.promise("Spark's drivers log in wherever they are", "how-to/secure")
def test_a_driver_of_spark_logs_in_outside_of_containers(howdah: Howdah, shut: dict[str, Any], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("from pyspark import SparkContext\nprint('sum', SparkContext().range(5).sum())\n")
    spark = find_spark().home
    shape = ("--num-executors", "1", "--executor-memory", "512m", "--conf", f"spark.yarn.jars=local:{spark}/jars/*")
    said = howdah("exec", "--name", "shut", "--", f"{spark}/bin/spark-submit", "--master", "yarn", *shape, str(program))
    assert "sum 10" in said.ok().out


@pytest.mark.promise("Spark's driver and executors talk to the owner's alone", "how-to/secure")
def test_a_driver_of_spark_talks_to_nobody_else(howdah: Howdah, shut: dict[str, Any], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from pyspark import SparkContext\n"
        "conf = SparkContext().getConf()\n"
        "for name in ('spark.authenticate', 'spark.ui.enabled'):\n"
        "    print(name, conf.get(name))\n"
    )
    command = (f"{find_spark().home}/bin/spark-submit", "--master", "local", str(program))
    said = howdah("exec", "--name", "shut", "--", *command).ok().out
    assert "spark.authenticate true" in said
    assert "spark.ui.enabled false" in said


@pytest.mark.promise("Jobs run on a secured cluster, with our plugins, without native code", "how-to/secure")
def test_a_terasort_with_our_plugins_is_valid(run: Path) -> None:
    stored = read_run(run)
    assert stored.run.outcome.kind == "valid"
    assert stored.run.cluster["security"] == "authentication"
    counters = Kept(run).job("sort")["counters"]
    assert counters["Howdah Sort"]["RECORDS"] > 0
    assert counters["Howdah Shuffle"]["RECORDS"] > 0
    assert not counters["Howdah Shuffle"].get("FALLBACKS")
    assert counters["Howdah Shuffle"]["SEGMENTS_DIRECT"] > 0, "also where Hadoop itself would need native code"
    assert not counters["Howdah Shuffle"].get("SEGMENTS_HTTP")


@pytest.mark.promise("The owner's commands log in by themselves", "how-to/secure")
def test_the_owner_s_programs_just_work(howdah: Howdah, shut: dict[str, Any]) -> None:
    master = shut["plan"]["masters"]
    web = f"swebhdfs://{master['address']}:{master['ports']['namenode_web']}/"
    for command in (("hdfs", "dfs", "-ls", "/"), ("mapred", "job", "-list"), ("hdfs", "fsck", "/")):
        howdah("exec", "--name", "shut", "--", *command).ok()
    assert "/tmp" in howdah("exec", "--name", "shut", "--", "hadoop", "fs", "-ls", web).ok().out
    assert "Secured by Kerberos (authentication): only you can use it." in howdah("status").ok().out


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """The process ends with the test, also with one that fails."""
    try:
        yield
    finally:
        process.kill()


@pytest.mark.promise("`howdah open` serves the pages of a secured cluster to its owner alone", "how-to/secure")
def test_the_owner_opens_the_pages(howdah: Howdah, shut: dict[str, Any]) -> None:
    command = [*howdah.command, "open", "--name", "shut", "--no-browser"]
    with subprocess.Popen(command, env=howdah.environment, stdout=subprocess.PIPE, text=True) as opened, ended(opened):
        assert opened.stdout is not None
        shown = dict(line.rsplit(maxsplit=1) for line in iter(opened.stdout.readline, "\n"))
        assert len(shown) == 5, "a page for each daemon"
        for url in shown.values():
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(url, timeout=20) as first:
                assert b'content="0;url=/"' in first.read(), "which brings the cookie, and leads to the page"
            with browser.open(url.partition("?")[0], timeout=20) as page:
                assert (page.status, b"</html>" in page.read().lower()) == (200, True), url
            assert status_of(url.partition("?")[0]) == 403
        opened.send_signal(signal.SIGINT)
        assert opened.wait(timeout=20) == 0


@pytest.mark.promise("A cluster with Kerberos that Howdah did not start is measured", "how-to/kerberos-clusters")
def test_a_cluster_of_others_is_measured_with_a_keytab(
    howdah: Howdah, shut: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, conf = conf_of(howdah), tmp_path / "conf"
    conf.mkdir()
    for file in (*own.glob("*-site.xml"), own / "ssl-client.xml"):
        shutil.copy(file, conf)
    mine = Path(shutil.copy(own / "security" / "owner.keytab", tmp_path / "mine.keytab"))
    other = Path(shutil.copy(own / "security" / "nn.keytab", tmp_path / "other.keytab"))
    monkeypatch.setenv("KRB5_CONFIG", str(own / "krb5.conf"))
    asked = ("run", "terasort", "--size", "smoke", "--cluster", f"conf:{conf}", "--out", str(tmp_path / "runs"))
    owner = f"{process_user()}@HOWDAH"
    refused = howdah(*asked, "--keytab", str(other), "--principal", owner)
    assert refused.code == 2
    assert f"has no key of {owner}" in refused.err
    assert "It has nn/howdah@HOWDAH." in refused.err
    unknown = howdah(*asked, "--keytab", str(mine), "--principal", owner, env={"KRB5_CONFIG": str(tmp_path / "none")})
    assert unknown.code == 1
    assert f"nobody can log in to the cluster of {conf}" in unknown.err
    assert "`kinit` gets a ticket" in unknown.err
    howdah(*asked, "--keytab", str(mine), "--principal", owner, "--no-report").ok()
    [run] = [read_run(place) for place in (tmp_path / "runs").iterdir()]
    assert run.run.outcome.kind == "valid"
    assert {"namenode.json", "resourcemanager.json", "historyserver.json"} == {
        file.name for file in (run.path / "conf" / "effective").iterdir()
    }


@pytest.mark.promise("Who has no ticket is refused by every service", "how-to/secure")
def test_calls_without_a_ticket_are_refused(howdah: Howdah, shut: dict[str, Any], tmp_path: Path) -> None:
    conf = tmp_path / "conf"
    conf.mkdir()
    plain = "<property><name>hadoop.security.authentication</name><value>simple</value></property>"
    (conf / "core-site.xml").write_text(f"<configuration>{plain}</configuration>")
    master = shut["plan"]["masters"]
    eve = ("env", "-u", "KRB5PRINCIPAL", "-u", "KRB5KEYTAB", f"HADOOP_CONF_DIR={conf}", "HADOOP_USER_NAME=root")
    files = f"hdfs://{master['address']}:{master['ports']['namenode_rpc']}/"
    manager = f"yarn.resourcemanager.address={master['address']}:{master['ports']['resourcemanager_rpc']}"
    for command in (("hdfs", "dfs", "-ls", files), ("yarn", "application", f"-D{manager}", "-list")):
        refused = howdah("exec", "--name", "shut", "--", *eve, *command)
        assert refused.code != 0
        assert "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]" in refused.err, refused.err


@pytest.mark.promise("Web pages, REST and WebHDFS are closed to who has no key", "how-to/secure")
def test_web_servers_want_our_signature(howdah: Howdah, shut: dict[str, Any]) -> None:
    master, node = shut["plan"]["masters"], shut["plan"]["nodes"][0]
    pages = (
        (master, "namenode_web", ("/jmx", "/conf", "/webhdfs/v1/?op=LISTSTATUS&user.name=root", "/fsck")),
        (master, "resourcemanager_web", ("/jmx", "/conf", "/cluster", "/ws/v1/cluster/apps?user.name=root")),
        (master, "historyserver_web", ("/jmx", "/conf", "/jobhistory", "/ws/v1/history/mapreduce/jobs")),
        (node, "datanode_web", ("/jmx", "/conf")),
        (node, "nodemanager_web", ("/jmx", "/conf", "/node", "/ws/v1/node/info")),
    )
    user = (conf_of(howdah) / "security" / "http-secret").read_bytes()
    for place, port, paths in pages:
        base = f"https://{place['address']}:{place['ports'][port]}"
        kind = "kerberos-dt" if port == "resourcemanager_web" else "kerberos"
        for path in paths:
            assert status_of(base + path) == 401, path
            assert status_of(base + path, cookie(b"guessed", "root", "HOWDAH", kind)) == 401, path
            stale = cookie(user, "root", "HOWDAH", kind, now=lambda: 1e9)
            assert status_of(base + path, stale) == 401, path
        # A key that is right, for a user who is nobody here.
        assert status_of(f"{base}/conf", cookie(user, "eve", "HOWDAH", kind)) == 403
        assert status_of(f"{base}/conf", cookie(user, "root", "HOWDAH", kind)) == 200
        assert b"HTTP/1.1 2" not in said_by(place["address"], place["ports"][port], b"GET /conf HTTP/1.0\r\n\r\n")


@pytest.mark.promise("Map outputs are given to nobody without a token of the job", "how-to/secure")
def test_map_outputs_are_closed(shut: dict[str, Any], job: Job) -> None:
    node = shut["plan"]["nodes"][0]
    output = f"job=job_{job.id}&reduce=0&map=attempt_{job.id}_m_000000_0"
    url = f"http://{node['address']}:{node['ports']['shuffle']}/mapOutput?{output}"
    version = {"name": "mapreduce", "version": "1.0.0"}
    assert status_of(url, **version) == 401
    assert status_of(url, **version, UrlHash="AAAAAAAAAAAAAAAAAAAAAAAAAAA=") == 401


@pytest.mark.promise("The page of a running job is closed to all but the ResourceManager", "how-to/secure")
def test_the_page_of_a_job_is_closed(howdah: Howdah, shut: dict[str, Any], job: Job) -> None:
    first, last = shut["plan"]["application_web_ports"]
    [(address, port)] = [one for one in listening([job.master]) if first <= one[1] <= last]
    address = shut["plan"]["nodes"][0]["address"] if address == "::" else address
    with pytest.raises(OSError, match=r"alert|closed|reset"):
        status_of(f"https://{address}:{port}/", "proxy-user=root")
    assert b"HTTP/1.1 2" not in said_by(address, port, b"GET / HTTP/1.0\r\nCookie: proxy-user=root\r\n\r\n")
    master = shut["plan"]["masters"]
    own = cookie((conf_of(howdah) / "security" / "http-secret").read_bytes(), "root", "HOWDAH", "kerberos-dt")
    page = f"https://{master['address']}:{master['ports']['resourcemanager_web']}/proxy/application_{job.id}/"
    assert (status_of(page), status_of(page, own)) == (401, 200)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.promise("Another user is refused by every service", "how-to/secure")
def test_another_user_is_refused_everywhere(howdah: Howdah, shut: dict[str, Any], job: Job) -> None:
    assert intrude(ways(shut["plan"])) == {}
    [log] = (howdah.home / "clusters" / "shut" / "logs").glob("datanode-*.log")
    assert "Failed to read expected SASL data transfer protection handshake from client" in log.read_text()
    calls = {
        f"call {port}": (("send", [address.replace("::", "127.0.0.1"), port], b"hrpc\x09\0\0".hex()), "SIMPLE auth")
        for address, port in listening([job.master])
        if not shut["plan"]["application_web_ports"][0] <= port <= shut["plan"]["application_web_ports"][1]
    }
    assert len(calls) == 2, "one port for clients, one for tasks"
    assert intrude(calls) == {}


@pytest.mark.promise("Daemons open the ports of the plan, and none for JMX", "how-to/secure")
def test_no_other_port_is_open(shut: dict[str, Any], job: Job) -> None:
    plan = shut["plan"]
    planned = {port for place in (plan["masters"], *plan["nodes"]) for port in place["ports"].values()}
    for daemon in shut["daemons"]:
        others = {one for one in listening([daemon["pid"]]) if one[1] not in planned}
        if daemon["role"] == "datanode":
            # Behind its web server is another one, for this machine alone, on whichever port is free.
            [(address, port)] = others
            assert (address, status_of(f"http://{address}:{port}/jmx")) == ("127.0.0.1", 401)
        else:
            assert others == set(), daemon


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.promise("Another user of the host reads no key and reaches no socket", "how-to/secure")
def test_another_user_of_the_host_finds_nothing(howdah: Howdah, shut: dict[str, Any]) -> None:
    conf = conf_of(howdah)
    root = Path(shut["plan"]["quarters"][shut["machine"]]["root"])
    sockets = Path(os.environ["HOWDAH_LOCKS"]) / f"howdah-run-{os.getuid()}"
    for place in (conf, conf / "security", root, sockets, conf.parent / "logs"):
        assert place.stat().st_mode & 0o077 == 0, place
    for file in (*conf.glob("security/*"), conf / "ssl-server.xml"):
        assert file.stat().st_mode & 0o077 == 0, file
    # The command lines of daemons are everybody's to read.
    secrets = [(conf / "security" / "http-secret").read_text()]
    words = subprocess.run(("ps", "-ww", "-eo", "args"), capture_output=True, text=True, check=True).stdout
    assert "org.howdah.security.Realm" in words
    assert not any(secret in words for secret in secrets)
    files = (*conf.glob("security/*"), conf / "ssl-server.xml", root, conf.parent / "logs")
    found = local_ways(*files, *(one for one in sockets.iterdir() if one.is_socket()))
    assert len(found) > 5
    assert any(way[0] == "connect" for way, _ in found.values())
    assert intrude(found) == {}


@pytest.mark.promise("Keys and passwords are never in a run directory", "how-to/secure")
def test_no_key_is_in_what_a_run_keeps(howdah: Howdah, run: Path) -> None:
    keys = conf_of(howdah) / "security"
    server = (conf_of(howdah) / "ssl-server.xml").read_text()
    passphrase = server.partition("<name>ssl.server.keystore.password</name><value>")[2].partition("<")[0]
    assert len(passphrase) > 20
    secrets = [(keys / "http-secret").read_bytes(), passphrase.encode(), _PLANTED.encode()]
    # The key of a keytab is its last bytes.
    secrets += [file.read_bytes()[-20:] for file in keys.glob("*.keytab")]
    places = (run, howdah.home / "clusters" / "shut" / "logs")
    for file in (file for place in places for file in place.rglob("*") if file.is_file()):
        content = file.read_bytes()
        assert not any(secret in content for secret in secrets), file
        assert b"delegation=" not in content.replace(b"delegation=<redacted>", b""), file
        assert file.suffix not in (".keytab", ".p12", ".pem")


@pytest.mark.promise("Without its KDC a cluster goes on, and new programs say why they do not", "how-to/secure")
def test_a_cluster_without_its_kdc_goes_on(howdah: Howdah, shut: dict[str, Any], job: Job) -> None:
    howdah("fault", "kill", shut["machine"], "--daemon", "kdc", "--name", "shut").ok()
    job.gate.touch()
    assert state_of(howdah, shut, job) == "SUCCEEDED", "running jobs go on"
    refused = howdah("exec", "--name", "shut", "--", "hdfs", "dfs", "-ls", "/")
    assert refused.code != 0
    assert "Connection refused" in refused.err
    again = howdah("run", "pi", "--cluster", "shut", "--no-report")
    assert again.code != 0
    assert "no program can log in any more: kdc of master" in again.out + again.err
    said = howdah("status", "--name", "shut").ok().out
    assert "lost: kdc of master" in said
    assert "5 of 6 alive" in said


def state_of(howdah: Howdah, shut: dict[str, Any], job: Job) -> str:
    """How the job ended, as the ResourceManager says."""
    master = shut["plan"]["masters"]
    secret = (conf_of(howdah) / "security" / "http-secret").read_bytes()
    path = f"/ws/v1/cluster/apps/application_{job.id}"
    url = f"https://{master['address']}:{master['ports']['resourcemanager_web']}{path}"
    request = urllib.request.Request(url, headers={"Cookie": cookie(secret, "root", "HOWDAH", "kerberos-dt")})
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with urllib.request.urlopen(request, timeout=10, context=ssl._create_unverified_context()) as answer:
            state: str = json.load(answer)["app"]["finalStatus"]
        if state != "UNDEFINED":
            return state
        time.sleep(0.3)
    raise AssertionError("the job goes on after a minute")


@pytest.mark.promise("Keys go with the cluster", "how-to/secure")
def test_down_leaves_no_key(howdah: Howdah, shut: dict[str, Any]) -> None:
    howdah("down", "--name", "shut").ok()
    left = [*howdah.home.rglob("*.keytab"), *howdah.home.rglob("http-secret"), *howdah.home.rglob("*.p12")]
    assert left == []
