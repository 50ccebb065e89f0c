from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import UsageError
from howdah.hadoop.configuration.site import (
    SiteFile,
    parse_site,
    read_client_files,
    read_conf_dir,
    read_sites,
    render_site,
)

LETTERS = st.characters(
    codec="utf-8", exclude_categories=["Cs", "Cc"], include_characters="\t\n\r", exclude_characters="￾￿"
)
KEYS = st.text(LETTERS, min_size=1).map(str.strip).filter(bool)
PROPERTIES = st.dictionaries(KEYS, st.text(LETTERS))


@given(PROPERTIES, st.data())
def test_what_is_rendered_is_parsed_back(properties: dict[str, str], data: st.DataObject) -> None:
    final = data.draw(st.sets(st.sampled_from(sorted(properties)))) if properties else set()
    content = render_site(properties, final=final)
    assert parse_site(content, "x") == SiteFile(properties, frozenset(final))
    assert parse_site(content.encode(), "x").properties == properties


@given(PROPERTIES)
def test_equal_properties_give_equal_bytes(properties: dict[str, str]) -> None:
    assert render_site(properties) == render_site(dict(reversed(properties.items())))


def test_the_rendered_form() -> None:
    assert render_site({"b": "${a}/x & <y>", "a": ""}, final={"b"}) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        "<configuration>\n"
        "  <property><name>a</name><value></value></property>\n"
        "  <property><name>b</name><value>${a}/x &amp; &lt;y&gt;</value><final>true</final></property>\n"
        "</configuration>\n"
    )


@pytest.mark.parametrize(("key", "value"), [("a", "\x00"), ("a", "\ud800"), ("", "x"), (" a", "x")])
def test_what_xml_or_hadoop_cannot_hold_is_refused(key: str, value: str) -> None:
    with pytest.raises(UsageError):
        render_site({key: value})


def test_files_are_read_as_hadoop_reads_them() -> None:
    site = parse_site(
        """<?xml version="1.0"?><!-- by hand --><configuration>
        <property><name> dfs.replication </name><value>3</value><description>copies</description></property>
        <property><name>dfs.replication</name><value> 2</value><final>true</final></property>
        <property><name>dfs.replication</name><value>1</value></property>
        <property name="dfs.blocksize" value="64m"/>
        <property><name>no.value</name></property>
        <property><name>empty</name><value/></property>
        </configuration>""",
        "hdfs-site.xml",
    )
    assert site.properties == {"dfs.replication": " 2", "dfs.blocksize": "64m", "empty": ""}
    assert site.final == {"dfs.replication"}


@pytest.mark.promise("A directory with `xi:include` is refused", "how-to/existing-cluster")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<configuration>", "hdfs-site.xml is not XML"),
        ("<html/>", "not a Hadoop configuration: its first element is <html>"),
        (
            '<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="o.xml"/></configuration>',
            "includes other files",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(content: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_site(content, "hdfs-site.xml")


def test_a_directory_is_read_with_later_files_over_earlier_ones(tmp_path: Path) -> None:
    (tmp_path / "core-site.xml").write_text(render_site({"a": "core", "f": "core"}, final={"f"}))
    (tmp_path / "mapred-site.xml").write_text(render_site({"a": "mapred", "f": "mapred"}))
    (tmp_path / "hive-site.xml").write_text(render_site({"a": "hive"}))
    assert read_conf_dir(tmp_path) == {"a": "mapred", "f": "core"}
    assert list(read_sites(tmp_path)) == ["core-site.xml", "mapred-site.xml"]


@pytest.mark.promise("Files that only daemons read are not copied into a run", "how-to/existing-cluster")
def test_clients_get_what_they_read_and_no_secret_of_a_daemon(tmp_path: Path) -> None:
    site = render_site({"a": "b"}).encode()
    files = {"core-site.xml": site, "yarn-site.xml": site, "log4j.properties": b"x", "capacity-scheduler.xml": site}
    secret = ("ssl-server.xml", "kms-site.xml", "yarn.keytab", "container-executor.cfg")
    for name, content in {**files, **dict.fromkeys(secret, b"?")}.items():
        (tmp_path / name).write_bytes(content)
    assert read_client_files(tmp_path) == files
    # A file that cannot be read, whoever asks: root may read every other.
    (tmp_path / "capacity-scheduler.xml").unlink()
    (tmp_path / "capacity-scheduler.xml").mkdir()
    del files["capacity-scheduler.xml"]
    assert read_client_files(tmp_path) == files


def test_a_directory_without_core_site_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"it has no core-site.xml"):
        read_conf_dir(tmp_path)
    with pytest.raises(UsageError, match="no configuration directory"):
        read_conf_dir(tmp_path / "nowhere")
