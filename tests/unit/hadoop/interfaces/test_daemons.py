"""The daemons' own interfaces, against what real ones answered."""

import json

import pytest

from howdah.errors import Untrusted
from howdah.hadoop.interfaces.application_master import ApplicationMaster, bytes_so_far
from howdah.hadoop.interfaces.effective import Setting, effective_configuration, parse_conf
from howdah.hadoop.interfaces.history_server import HistoryServer
from howdah.hadoop.interfaces.http import Garbled, Rejected, Unreachable
from howdah.hadoop.interfaces.namenode import MissingBlock, NameNode
from howdah.hadoop.interfaces.nodemanager import NodeManager
from howdah.hadoop.interfaces.resourcemanager import Resource, ResourceManager
from tests.unit.hadoop.interfaces.fake_server import free_port, golden, json_response, response, serving

APP = "application_1795174828053_0001"
JOB = "job_1795174828053_0001"
MANAGER = {
    "/ws/v1/cluster/info": "info.json",
    "/ws/v1/cluster/metrics": "metrics.json",
    "/ws/v1/cluster/nodes": "nodes.json",
    "/ws/v1/cluster/apps": "apps.json",
    f"/ws/v1/cluster/apps/{APP}": "app.json",
    f"/proxy/{APP}/ws/v1/mapreduce/jobs/{JOB}": "am_job.json",
    f"/proxy/{APP}/ws/v1/mapreduce/jobs/{JOB}/counters": "am_counters.json",
    "/conf": "conf.json",
}


def manager(request):
    name = MANAGER.get(request.path)
    return response(golden("rm_noapp.json"), 404) if name is None else response(golden(name))


def namenode(info, state="nn_state.json", status="nn_status.json"):
    files = {"NameNodeInfo": info, "FSNamesystemState": state, "NameNodeStatus": status}
    return lambda request: response(golden(files[request.query["qry"].rpartition("name=")[2]]))


def test_namenode():
    with serving(namenode("nn_info.json")) as server:
        status = NameNode(server.address).status()
        assert NameNode(server.address).is_up()
    assert (status.version, status.state, status.safe_mode, status.dead) == ("3.4.2", "active", None, {})
    assert (status.capacity, status.used, status.remaining) == (270553174016, 18480685, 82257838080)
    assert (status.blocks, status.missing, status.under_replicated, status.missing_blocks) == (47, 0, 7, ())
    (node,) = status.live
    assert (node.name, node.http_address, node.state) == ("localhost:23066", "127.0.0.1:23075", "In Service")
    assert (node.capacity, node.remaining, node.blocks) == (270553174016, 82257838080, 47)


def test_the_namenode_of_hadoop_3_5():
    whole = namenode("../3.5.0/nn_info.json", "../3.5.0/nn_state.json", "../3.5.0/nn_status.json")
    with serving(whole) as server:
        status = NameNode(server.address).status()
    assert (status.version, status.state, status.safe_mode, status.dead) == ("3.5.0", "active", None, {})
    assert (status.capacity, status.used, status.blocks, status.missing) == (270553174016, 40099679, 25, 0)
    (node,) = status.live
    assert (node.http_address, node.state, node.blocks) == ("127.0.0.1:20071", "In Service", 25)
    with serving(lambda _: response(golden("../3.5.0/nn_activity.json"))) as server:
        found = NameNode(server.address).activity()
    assert all(type(found[name]) is int for name in ("CreateFileOps", "GetBlockLocations", "FileInfoOps"))


def test_the_resource_manager_of_hadoop_3_5():
    def answer(request):
        return response(golden(f"../3.5.0/{MANAGER[request.path]}"))

    with serving(answer) as server:
        rm = ResourceManager((server.address,), "root")
        info, metrics, (node,), (job,) = rm.info(), rm.metrics(), rm.nodes(), rm.applications(tag="howdah-x")
    assert (info.state, info.ha_state, info.version) == ("STARTED", "ACTIVE", "3.5.0")
    assert (metrics.active_nodes, metrics.memory_total) == (1, 9216)
    assert (node.id, node.state, node.memory_total, node.vcores_total) == ("127.77.0.2:20073", "RUNNING", 9216, 3)
    assert (job.state, job.final_status, job.ended, job.kind) == ("FINISHED", "SUCCEEDED", True, "MAPREDUCE")


def test_what_a_namenode_has_done():
    with serving(lambda _: response(golden("nn_activity.json"))) as server:
        found = NameNode(server.address).activity()
    assert (found["CreateFileOps"], found["FileInfoOps"]) == (15, 50)
    assert all(type(value) is int for value in found.values())


def test_namenode_in_safe_mode_is_up():
    with serving(namenode("nn_info_safe.json")) as server:
        status = NameNode(server.address).status()
        assert NameNode(server.address).is_up()
    assert status.safe_mode is not None
    assert status.safe_mode.startswith("Safe mode is ON. The reported blocks 0 needs additional 46")
    assert status.live == ()


def test_namenode_without_datanodes_names_missing_blocks():
    with serving(namenode("nn_info_missing.json", "nn_state_missing.json")) as server:
        status = NameNode(server.address).status()
    assert (status.missing, status.remaining) == (47, 0)
    assert status.missing_blocks[0] == MissingBlock("blk_1073741830", "/tera/in/part-m-00000")


def test_namenode_that_still_starts_has_no_beans():
    with serving(json_response({"beans": []})) as server:
        assert not NameNode(server.address).is_up()
        with pytest.raises(Garbled, match="still starting"):
            NameNode(server.address).status()
    assert not NameNode(server.address).is_up()


def test_resource_manager():
    with serving(manager) as server:
        rm = ResourceManager((server.address,), "root")
        info, metrics, (node,) = rm.info(), rm.metrics(), rm.nodes()
        assert rm.maximum_allocation() == Resource(1024, 4)
    assert (info.state, info.ha_state, info.version) == ("STARTED", "ACTIVE", "3.4.2")
    assert (metrics.active_nodes, metrics.applications_running, metrics.memory_total) == (1, 1, 1536)
    assert (metrics.memory_available, metrics.vcores_total) == (896, 4)
    assert (node.id, node.state, node.memory_total, node.vcores_total) == ("localhost:23045", "RUNNING", 1536, 4)
    assert (node.memory_used, node.vcores_used, node.containers) == (640, 2, 2)


def test_applications():
    with serving(manager) as server:
        rm = ResourceManager((server.address,), "root")
        (one,) = rm.applications(tag="howdah-x", states=("RUNNING", "ACCEPTED"))
        now = rm.application(APP)
        with pytest.raises(Rejected, match=r"NotFoundException.*not found") as raised:
            rm.application("application_1_0001")
    assert raised.value.status == 404
    assert server.requests[0].query == {
        "applicationTags": "howdah-x", "states": "RUNNING,ACCEPTED", "user.name": "root"
    }  # fmt: skip
    assert (one.id, one.tags, one.state, one.final_status) == (APP, ("howdah-x", "zwei"), "RUNNING", "UNDEFINED")
    assert (one.start, one.finish, one.ended, one.kind) == (1795174842.581, None, False, "MAPREDUCE")
    assert (one.am_address, one.queue, one.user) == ("localhost:23042", "root.default", "root")
    assert (now.memory_seconds, now.vcore_seconds) == (11466, 34)
    assert now.memory_seconds > one.memory_seconds


def test_an_application_that_was_killed():
    with serving(response(golden("app_killed.json"))) as server:
        one = ResourceManager((server.address,), "root").application(APP)
    assert (one.state, one.final_status, one.ended, one.finish) == ("FINISHED", "KILLED", True, 1795174861.287)


@pytest.mark.parametrize("nothing", [{"apps": {}}, {"apps": None}])
def test_no_applications(nothing):
    with serving(json_response(nothing)) as server:
        assert ResourceManager((server.address,), "root").applications(tag="x") == ()


def test_kill():
    with serving(json_response({"state": "KILLING"}, 202)) as server:
        assert ResourceManager((server.address,), "ann").kill(APP) == "KILLING"
    (request,) = server.requests
    assert (request.method, request.path) == ("PUT", f"/ws/v1/cluster/apps/{APP}/state")
    assert (request.query, json.loads(request.body)) == ({"user.name": "ann"}, {"state": "KILLED"})
    assert request.headers["content-type"] == "application/json"


def test_kill_by_another_user():
    text = f"Unauthorized attempt to kill appid {APP} by remote user mallory".encode()
    with serving(response(text, 403)) as server, pytest.raises(Rejected, match="403: Unauthorized attempt to kill"):
        ResourceManager((server.address,), "mallory").kill(APP)


@pytest.mark.promise("High availability of both masters is understood", "how-to/existing-cluster")
def test_the_active_one_of_several():
    def standby(request):
        if request.path == "/ws/v1/cluster/info":
            return json_response({"clusterInfo": {"id": 1, "state": "STARTED", "haState": "STANDBY",
                                                  "hadoopVersion": "3.4.2"}})  # fmt: skip
        return response(b"This is standby RM", 307, Location=f"http://{active.address}{request.path}")

    with serving(manager) as active, serving(standby) as passive:
        rm = ResourceManager((f"127.0.0.1:{free_port()}", passive.address, active.address), "root")
        assert rm.info().ha_state == "ACTIVE"
        assert rm.metrics().active_nodes == 1
        assert rm.maximum_allocation() == Resource(1024, 4)
        with pytest.raises(Unreachable, match=r"Connection refused; .*: standby, points at"):
            ResourceManager(rm.addresses[:2], "root").metrics()
        with pytest.raises(Unreachable, match=r"Connection refused; .*: STANDBY"):
            ResourceManager(rm.addresses[:2], "root").info()


def test_an_answer_without_a_field_is_not_guessed():
    record = json.loads(golden("app.json"))
    del record["app"]["memorySeconds"]
    with serving(json_response(record)) as server, pytest.raises(Garbled, match="memorySeconds is None, not int"):
        ResourceManager((server.address,), "root").application(APP)


def test_application_master():
    with serving(manager) as server:
        master = ApplicationMaster(ResourceManager((server.address,), "root"), APP)
        progress, counters = master.progress(), master.counters()
    assert progress is not None
    assert (progress.id, progress.state, progress.maps.progress, progress.reduces.progress) == (
        JOB,
        "RUNNING",
        1.0,
        0.0,
    )
    assert (progress.maps.total, progress.maps.completed, progress.reduces.running) == (2, 2, 1)
    assert counters is not None
    assert counters["org.apache.hadoop.mapreduce.TaskCounter"]["MAP_OUTPUT_RECORDS"] == 1200
    assert bytes_so_far(counters) == (96, 0), "local files are not counted"
    assert bytes_so_far({}) is None


@pytest.mark.parametrize(
    "answer",
    [
        response(b"", 302, Location=f"http://127.0.0.1:1/cluster/app/{APP}"),
        response(b"", 302, Location=f"http://127.0.0.1:1/jobhistory/job/{JOB}"),
        response(b"connection refused", 500),
    ],
)
def test_application_master_that_is_not_there(answer):
    with serving(answer) as server:
        master = ApplicationMaster(ResourceManager((server.address,), "root"), APP)
        assert master.progress() is None
        assert master.counters() is None


def test_history_server():
    files = {"info": "jhs_info.json", JOB: "jhs_job.json"}
    with serving(lambda request: response(golden(files[request.path.rpartition("/")[2]]))) as server:
        history = HistoryServer(server.address)
        assert (history.info().version, history.info().started) == ("3.4.2", 1795174471.317)
        job = history.job(JOB)
    assert job is not None
    assert (job.state, job.submit, job.launch, job.finish) == ("KILLED", 1795174842.534, 1795174845.904, 1795174860.783)
    with serving(response(golden("jhs_nojob.json"), 404)) as server:
        assert HistoryServer(server.address).job("job_1_0001") is None
    with serving(response(b"", 500)) as server, pytest.raises(Rejected):
        HistoryServer(server.address).job("job_1_0001")


def test_node_manager():
    files = {"/ws/v1/node/info": "node_info.json", "/ws/v1/node/containers": "containers.json"}
    with serving(lambda request: response(golden(files[request.path]))) as server:
        info, containers = NodeManager(server.address).info(), NodeManager(server.address).containers()
    assert (info.id, info.healthy, info.memory, info.vcores, info.version) == (
        "localhost:23045",
        True,
        1536,
        4,
        "3.4.2",
    )
    assert [(one.id[-6:], one.state, one.memory, one.exit_code) for one in containers] == [
        ("000001", "RUNNING", 384, None),
        ("000005", "RUNNING", 256, None),
    ]
    with serving(response(golden("containers_none.json"))) as server:
        assert NodeManager(server.address).containers() == ()


def test_effective_configuration():
    with serving(manager) as server:
        settings = effective_configuration(server.address)
    assert settings["yarn.scheduler.maximum-allocation-mb"] == Setting("1024", "yarn-site.xml")
    assert settings["yarn.scheduler.maximum-allocation-vcores"] == Setting("4", "yarn-default.xml")
    assert settings["dfs.blocksize"] == Setting("1048576", "hdfs-site.xml")
    # Without the Accept header, Hadoop answers in XML.
    assert server.requests[0].headers["accept"] == "application/json"
    with serving(json_response({"properties": []})) as server, pytest.raises(Garbled, match="no keys"):
        effective_configuration(server.address)


def test_configuration_of_a_job():
    content = golden("terasort_conf.xml")
    settings = parse_conf(content)
    assert settings["mapreduce.job.reduces"] == Setting("2", "from command line")
    assert settings["dfs.blocksize"] == Setting("1048576", "hdfs-site.xml")
    assert settings["dfs.heartbeat.interval"] == Setting("3", "hdfs-default.xml")
    assert settings["mapreduce.job.user.name"] == Setting("root", "programmatically")
    for size in range(0, len(content) - 1, 7):
        with pytest.raises(Untrusted):
            parse_conf(content[:size])
    with pytest.raises(Untrusted, match="<html>"):
        parse_conf(b"<html></html>")
