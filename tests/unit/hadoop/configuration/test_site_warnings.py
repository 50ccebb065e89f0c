"""Warnings about configuration directories that Hadoop accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from howdah.hadoop.configuration.site import render_site
from howdah.hadoop.configuration.site_warnings import site_warnings

LATER = """<?xml version="1.0"?>
<configuration>
  <property>
    <name>dfs.replication</name>
    <value>2</value>
  </property>
  <property><name>a</name><value>1</value></property>
  <property><name>a</name><value> 1 </value></property>
  <property name="dfs.replication" value="1"/>
</configuration>
"""


@pytest.mark.promise("A key with two values is named with its lines", "how-to/existing-cluster")
def test_a_key_with_two_values_is_named_with_both_lines_and_the_one_that_holds(tmp_path: Path) -> None:
    (tmp_path / "core-site.xml").write_text(render_site({"secret": "hunter2", "z": "1"}))
    (tmp_path / "hdfs-site.xml").write_text(LATER)
    (tmp_path / "yarn-site.xml").write_text(render_site({"secret": "hunter3", "z": "1"}))
    assert site_warnings(tmp_path) == (
        "secret has different values at core-site.xml, line 3; yarn-site.xml, line 3. "
        "Hadoop uses the one at yarn-site.xml, line 3.",
        "dfs.replication has different values at hdfs-site.xml, line 5; hdfs-site.xml, line 9. "
        "Hadoop uses the one at hdfs-site.xml, line 9.",
    )


def test_a_final_value_holds_whatever_follows(tmp_path: Path) -> None:
    (tmp_path / "core-site.xml").write_text(render_site({"a": "1"}, final={"a"}))
    (tmp_path / "hdfs-site.xml").write_text(render_site({"a": "2"}))
    (warning,) = site_warnings(tmp_path)
    assert warning.endswith("Hadoop uses the one at core-site.xml, line 3.")


@pytest.mark.promise("A placeholder in a value is named with its line", "how-to/existing-cluster")
@pytest.mark.parametrize(
    ("value", "placeholder"),
    [
        ("hdfs://#MASTER#:8020", "#MASTER#"),
        ("%HOSTGROUP::master_1%:8088", "%HOSTGROUP::master_1%"),
        ("@NAMENODE@", "@NAMENODE@"),
        ("{{ namenode_host }}:9870", "{{ namenode_host }}"),
    ],
)
def test_a_placeholder_is_named_with_its_line(tmp_path: Path, value: str, placeholder: str) -> None:
    (tmp_path / "core-site.xml").write_text(render_site({"a": "x", "b": value}))
    assert site_warnings(tmp_path) == (
        f"core-site.xml, line 4: b has the placeholder {placeholder}: nobody has put a value in its place.",
    )


@pytest.mark.promise("A reference to a key that nobody sets is named", "how-to/existing-cluster")
def test_a_reference_that_nobody_sets_is_named_once(tmp_path: Path) -> None:
    path = "/hdp/apps/${hdp.version}/mapreduce.tar.gz#mr"
    (tmp_path / "core-site.xml").write_text(
        render_site(
            {"a": path, "b": "-Dhdp.version=${hdp.version}", "c": "${b} ${own.key} ${JAVA_HOME}", "own.key": "1"}
        )
    )
    assert site_warnings(tmp_path) == (
        "a (core-site.xml, line 3) and 1 more: nothing sets ${hdp.version}, and shells fail at it. "
        "Set it: --conf hdp.version=VALUE.",
    )
    assert site_warnings(tmp_path, {"hdp.version": "3.1.5.0-152"}) == ()


@pytest.mark.parametrize(
    "value",
    [
        "-Xloggc:/tmp/gc-%p-%t.log -Djava.io.tmpdir=/tmp/@taskid@",
        "{{HADOOP_COMMON_HOME}}/share/*,{{PWD}}",
        "${hadoop.tmp.dir}/x",
        "RULE:[2:$1@$0](rm@.*EXAMPLE[.]COM)s/.*/yarn/ RULE:[1:$1@$0](.*@EXAMPLE[.]COM)s/@.*//",
        "hdfs://nn/app.zip#app,hdfs://nn/lib.jar#lib",
        "%d{ISO8601} %p %c: %m%n 90%",
    ],
)
def test_what_hadoop_itself_fills_in_is_none(tmp_path: Path, value: str) -> None:
    (tmp_path / "core-site.xml").write_text(render_site({"a": value}))
    assert site_warnings(tmp_path) == ()
