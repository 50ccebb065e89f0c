from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from howdah.hadoop.distribution.commands import PROGRAMS, are_current, install_launchers
from howdah.hadoop.distribution.distribution import Distribution, managed
from howdah.hadoop.distribution.fetch import fetch
from howdah.hadoop.distribution.lock import managed_versions
from howdah.host.channel import open_local
from howdah.store import howdah_home

# What each program of an Apache release knows, without what needs modules that are not in the managed distribution
# (KMS, HttpFS, NFS gateway, routers, shared cache, registry DNS, S3Guard …).
SUBCOMMANDS = {
    "hadoop": "archive checknative classpath conftest credential daemonlog distcp dtutil envvars fs gridmix jar "
    "jnipath kdiag kerbname key rumenfolder rumentrace version",
    "hdfs": "balancer cacheadmin classpath crypto datanode debug dfs dfsadmin diskbalancer ec envvars fetchdt fsck "
    "fsImageValidation getconf groups haadmin jmxget journalnode lsSnapshot lsSnapshottableDir mover namenode oev oiv "
    "oiv_legacy secondarynamenode snapshotDiff sps storagepolicies version zkfc",
    "yarn": "app application applicationattempt classpath cluster container daemonlog envvars fs2cs jar logs node "
    "nodeattributes nodemanager proxyserver queue resourcemanager rmadmin schedconf schedulerconf timelinereader "
    "timelineserver top version",
    "mapred": "archive classpath distcp envvars historyserver hsadmin job minicluster pipes queue sampler "
    "streaming version",
}
FAKE_JAVA = """#!/bin/bash
printf '%s\\n' "CLASSPATH=$CLASSPATH" "$@"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """HADOOP_HOME with launchers, a conf directory and a `java` that prints its class path and arguments."""
    home = tmp_path / "had oop"
    jars = (home / "share/hadoop/common/a.jar", home / "share/hadoop/common/lib/b.jar")
    tools = (home / "share/hadoop/tools/lib/c.jar",)
    install_launchers(Distribution("3.4.2", home, "managed", jars, (home / "share/hadoop/hdfs",), tools))
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(FAKE_JAVA)
    java.chmod(0o755)
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "hadoop-env.sh").write_text(f"export JAVA_HOME={tmp_path / 'jdk'}\nfalse\nunset_variable=$NOWHERE\n")
    (conf / "log4j.properties").touch()
    return home


def run(home: Path, program: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a launcher with nothing in its environment but `variables`, PATH and HADOOP_CONF_DIR."""
    environment = {"PATH": "/usr/bin:/bin", "HADOOP_CONF_DIR": str(home.parent / "conf"), **variables}
    command = [str(home / "bin" / program), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def java_saw(home: Path, program: str, *arguments: str, **variables: str) -> tuple[list[str], list[str]]:
    """The class path, relative to `home` where it is below it, and the arguments that Java was started with."""
    completed = run(home, program, *arguments, **variables)
    assert completed.returncode == 0, completed.stderr
    first, *rest = completed.stdout.splitlines()
    return first.removeprefix("CLASSPATH=").replace(f"{home}/", "").split(":"), rest


BASE = ["share/hadoop/common/a.jar", "share/hadoop/common/lib/b.jar", "share/hadoop/hdfs"]
TOOL = "share/hadoop/tools/lib/c.jar"


@pytest.mark.promise("The launchers know the subcommands of Apache's scripts", "reference/hadoop")
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_subcommands(home: Path, program: str) -> None:
    completed = run(home, program, "--help")
    assert completed.returncode == 0
    commands = [line.split()[0] for line in completed.stdout.splitlines()[4:] if line.startswith("  ")]
    assert commands == SUBCOMMANDS[program].split()


def test_jars_come_first_then_the_configuration_then_the_users_classes(home: Path) -> None:
    conf = str(home.parent / "conf")
    assert java_saw(home, "hadoop", "fs", HADOOP_CLASSPATH="/x.jar:/y/*")[0] == [*BASE, conf, "/x.jar", "/y/*"]
    classpath, _ = java_saw(home, "hadoop", "fs", HADOOP_CLASSPATH="/x.jar", HADOOP_USER_CLASSPATH_FIRST="true")
    assert classpath == ["/x.jar", *BASE, conf]


def test_our_own_jars_are_behind_hadoops(home: Path) -> None:
    plugins = {"HOWDAH_PLUGINS": "/own.jar:/other.jar"}
    expected = [*BASE[:2], "/own.jar", "/other.jar", BASE[2], str(home.parent / "conf")]
    assert java_saw(home, "hadoop", "fs", **plugins)[0] == expected
    assert java_saw(home, "hadoop", "distcp", **plugins)[0] == [*expected, TOOL]
    (home / "libexec" / "classpath").write_text("\n".join(BASE[:2]) + "\n")
    assert java_saw(home, "hadoop", "fs", **plugins)[0] == [e for e in expected if e != BASE[2]], "no directories"


def test_launchers_of_an_earlier_howdah_are_seen(tmp_path: Path) -> None:
    distribution = Distribution("3.4.2", tmp_path, "managed", (tmp_path / "a.jar",), (), ())
    assert not are_current(distribution)
    install_launchers(distribution)
    assert are_current(distribution)
    (tmp_path / "bin" / "hadoop").write_text("#!/bin/sh\n")
    assert not are_current(distribution)


@pytest.mark.parametrize(
    "command", [["distcp"], ["jar", "/x/hadoop-hdfs-3.4.2-tests.jar"], ["org.apache.hadoop.fs.TestDFSIO"]]
)
def test_tools_and_tests_get_their_jars_after_the_configuration(home: Path, command: list[str]) -> None:
    assert java_saw(home, "hadoop", *command)[0] == [*BASE, str(home.parent / "conf"), TOOL]


def test_without_a_log4j_file_of_the_user_there_is_a_quiet_one(home: Path) -> None:
    (home.parent / "conf" / "log4j.properties").unlink()
    assert java_saw(home, "hadoop", "fs")[0] == [*BASE, str(home.parent / "conf"), "etc/hadoop"]


def test_java_gets_class_options_and_arguments_as_they_were_given(home: Path) -> None:
    _, arguments = java_saw(home, "hdfs", "dfs", "-D", "a.b=c d", "-ls", "*", HADOOP_OPTS="-Da=1 -Db=2")
    assert arguments[-5:] == ["org.apache.hadoop.fs.FsShell", "-D", "a.b=c d", "-ls", "*"]
    assert {"-Da=1", "-Db=2", "-Dproc_dfs", f"-Dhadoop.home.dir={home}", "-Dhadoop.root.logger=INFO,console"} <= {
        *arguments
    }
    assert "--add-opens=java.base/java.lang=ALL-UNNAMED" in arguments


@pytest.mark.promise(
    "`HADOOP_OPTS`, `HADOOP_CLIENT_OPTS` and `HADOOP_CLASSPATH` work as with Apache's scripts",
    "how-to/use-your-own-programs",
)
def test_heap_and_options_by_kind(home: Path) -> None:
    variables = {
        "HADOOP_HEAPSIZE_MAX": "300",
        "HADOOP_CLIENT_OPTS": "-Dclient=1",
        "HDFS_NAMENODE_OPTS": "-Dnamenode=1",
        "HADOOP_ROOT_LOGGER": "WARN,console",
    }
    _, client = java_saw(home, "hdfs", "dfs", **variables)
    _, daemon = java_saw(home, "hdfs", "namenode", **variables)
    assert {"-Xmx300m", "-Dclient=1", "-Dhadoop.root.logger=WARN,console"} <= {*client}
    assert "-Dnamenode=1" not in client
    assert {"-Xmx300m", "-Dnamenode=1"} <= {*daemon}
    assert "-Dclient=1" not in daemon
    assert "-Djava.net.preferIPv4Stack=true" in daemon
    assert "-Xmx2g" in java_saw(home, "hdfs", "dfs", HADOOP_HEAPSIZE_MAX="2g")[1]


def test_the_command_line_wins_over_the_environment(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "hadoop-env.sh").write_text(f"JAVA_HOME={tmp_path / 'jdk'}\nHADOOP_ROOT_LOGGER=ERROR,console\n")
    classpath, arguments = java_saw(home, "yarn", "--config", str(other), "--loglevel", "DEBUG", "node")
    assert str(other) in classpath
    assert "-Dyarn.root.logger=DEBUG,console" in arguments


def test_yarn_says_which_of_its_commands_was_called(home: Path) -> None:
    assert java_saw(home, "yarn", "app", "-list")[1][-3:] == [
        "org.apache.hadoop.yarn.client.cli.ApplicationCLI",
        "application",
        "-list",
    ]
    assert java_saw(home, "yarn", "container", "-status")[1][-2:] == ["container", "-status"]


def test_the_class_path_is_printed(home: Path) -> None:
    completed = run(home, "hadoop", "classpath")
    assert completed.stdout == ":".join([*(f"{home}/{entry}" for entry in BASE), f"{home.parent}/conf"]) + "\n"
    assert java_saw(home, "mapred", "classpath", "--glob")[1][-2:] == ["org.apache.hadoop.util.Classpath", "--glob"]


def test_it_is_found_through_a_link(home: Path, tmp_path: Path) -> None:
    (tmp_path / "hdfs").symlink_to(home / "bin" / "hdfs")
    completed = subprocess.run(
        [tmp_path / "hdfs", "envvars"],
        env={"PATH": "/usr/bin:/bin", "JAVA_HOME": str(tmp_path / "jdk")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"HADOOP_HOME='{home}'" in completed.stdout
    assert f"HADOOP_CONF_DIR='{home}/etc/hadoop'" in completed.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonsense",), "ERROR: nonsense is not COMMAND nor fully qualified CLASSNAME.\nUsage: hadoop "),
        (("--config", "/nowhere", "fs"), 'ERROR: Cannot find configuration directory "/nowhere"\n'),
        (("--daemon", "start", "namenode"), "ERROR: --daemon is not supported here"),
    ],
)
def test_mistakes_end_with_1_and_are_said_on_standard_error(
    home: Path, arguments: tuple[str, ...], message: str
) -> None:
    completed = run(home, "hadoop", *arguments)
    assert completed.returncode == 1
    assert completed.stderr.startswith(message)
    assert completed.stdout == ""


def test_no_command_is_a_mistake(home: Path) -> None:
    completed = run(home, "yarn")
    assert completed.returncode == 1
    assert completed.stdout.startswith("Usage: yarn ")


def test_a_java_home_without_java(home: Path) -> None:
    (home.parent / "conf" / "hadoop-env.sh").unlink()
    completed = run(home, "hadoop", "fs", JAVA_HOME="/nowhere")
    assert (completed.returncode, completed.stderr) == (1, "ERROR: JAVA_HOME /nowhere has no bin/java.\n")


def test_deprecated_commands_go_to_their_program(home: Path) -> None:
    completed = run(home, "hadoop", "dfsadmin", "-report")
    assert "deprecated" in completed.stderr
    assert completed.stdout.splitlines()[-2:] == ["org.apache.hadoop.hdfs.tools.DFSAdmin", "-report"]


# With the real jars from here on.


@pytest.fixture(scope="module")
def real() -> Distribution:
    host = open_local("here")
    try:
        return fetch(host, "3.4.2", howdah_home() / "cache", offline=False, progress=lambda _: None)
    finally:
        host.close()


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "hadoop-env.sh").write_text("export HADOOP_HEAPSIZE_MAX=300\n")
    (conf / "mapred-site.xml").write_text(
        "<configuration><property><name>mapreduce.framework.name</name><value>local</value></property></configuration>"
    )
    (conf / "core-site.xml").write_text(
        f"<configuration><property><name>hadoop.tmp.dir</name><value>{tmp_path}/tmp</value></property></configuration>"
    )
    return conf


@pytest.mark.promise("The launchers know the subcommands of Apache's scripts", "reference/hadoop")
@pytest.mark.daemons
@pytest.mark.parametrize("version", managed_versions())
def test_every_class_of_the_table_is_in_the_jars(version: str) -> None:
    distribution = managed(version, howdah_home() / "cache")
    classes: set[str] = set()
    for jar in (*distribution.jars, *distribution.tool_jars):
        with zipfile.ZipFile(jar) as content:
            classes |= set(content.namelist())
    table = (distribution.home / "libexec" / "subcommands").read_text().splitlines()
    named = {line.split()[3] for line in table} - {"-"}
    assert sorted(name for name in named if f"{name.replace('.', '/')}.class" not in classes) == []


@pytest.mark.daemons
@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (["hadoop", "version"], "Hadoop 3.4.2\n"),
        (["yarn", "version"], "Hadoop 3.4.2\n"),
        (["mapred", "version"], "Hadoop 3.4.2\n"),
        (["hdfs", "getconf", "-confKey", "dfs.blocksize"], "134217728\n"),
        (["hadoop", "fs", "-D", "fs.defaultFS=file:///", "-cat", "CONF/core-site.xml"], "<configuration>"),
        (["hadoop", "conftest"], "CONF/core-site.xml: valid\n"),
    ],
)
def test_real_commands(real: Distribution, conf: Path, command: list[str], answer: str) -> None:
    program, *arguments = [word.replace("CONF", str(conf)) for word in command]
    completed = subprocess.run(
        [real.home / "bin" / program, "--config", str(conf), *arguments],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.replace("CONF", str(conf)) in completed.stdout
    assert "log4j:WARN" not in completed.stderr


@pytest.mark.daemons
def test_a_real_job_in_one_process(real: Distribution, conf: Path, tmp_path: Path) -> None:
    staging = f"-Dmapreduce.jobtracker.staging.root.dir={tmp_path}/staging"
    completed = subprocess.run(
        [real.home / "bin" / "hadoop", "jar", real.examples_jar, "pi", staging, "2", "100"],
        env={"PATH": "/usr/bin:/bin", "HADOOP_CONF_DIR": str(conf), "HADOOP_USER_NAME": "somebody"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Estimated value of Pi is 3.12" in completed.stdout


@pytest.mark.daemons
def test_no_jar_hides_the_users_configuration(real: Distribution) -> None:
    hidden = []
    for jar in real.jars:
        with zipfile.ZipFile(jar) as content:
            hidden += [f"{jar.name}: {name}" for name in content.namelist() if name.endswith("-site.xml")]
            hidden += [f"{jar.name}: {name}" for name in content.namelist() if name == "log4j.properties"]
    assert hidden == []
