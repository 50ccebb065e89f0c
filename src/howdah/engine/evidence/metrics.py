"""The metrics of every run, whatever its workload."""

from __future__ import annotations

from howdah.model.metric import Metric, registry
from howdah.workload import Workload

JOB_SECONDS = Metric(
    "job_seconds",
    "s",
    "lower",
    "from the submission of the phase's first job to the finish of its last, as their histories say, or the "
    "ResourceManager for applications that are not MapReduce; corrected for what is known of the clocks of hosts",
    "job history",
)
CLIENT_SECONDS = Metric(
    "client_seconds",
    "s",
    "lower",
    "from the start of the client's JVM to its end, of which its agent tells",
    "the clock of Howdah's machine",
)
CLIENT_START_SECONDS = Metric(
    "client_start_seconds",
    "s",
    "lower",
    "from the start of the client's JVM to the submission of the job: JVM start, input splits, sampling",
    "the clock of Howdah's machine and job history",
)
THROUGHPUT = Metric(
    "throughput",
    "B/s",
    "higher",
    "the bytes that the workload was asked for, in whole rows, records and files (`join`: once for each side), ÷ "
    "job_seconds, or ÷ client_seconds in a phase that runs no job. Bytes that RandomWriter drew beyond them do not "
    "count; of random reads, the bytes that were read do",
    "job history and the workload's size",
)
CPU_SECONDS = Metric(
    "cpu_seconds",
    "s",
    "lower",
    "user and system time of every process of the cluster and of the client during the phase, JVM starts included; "
    "Hadoop's CPU_MILLISECONDS leaves out JVM start and the application master",
    "process accounting (/proc/PID/stat and wait4)",
)
DAEMON_CPU_SECONDS = Metric(
    "daemon_cpu_seconds",
    "s",
    "lower",
    "user and system time of the daemons of one role during the phase, and of the containers that ran in it, which "
    "count with their NodeManager. An application master, which stays for five seconds after its job, is followed to "
    "its end or that of the run",
    "process accounting (/proc/PID/stat)",
)
CLIENT_CPU_SECONDS = Metric(
    "client_cpu_seconds", "s", "lower", "user and system time of the client's JVM", "process accounting (wait4)"
)
MEMORY_SECONDS = Metric(
    "container_memory_seconds",
    "MB s",
    "lower",
    "memory of containers × time they were allocated; MB as YARN has them, of 2^20 bytes",
    "ResourceManager",
)
VCORE_SECONDS = Metric(
    "container_vcore_seconds", "vcore s", "lower", "vcores of containers × time they were allocated", "ResourceManager"
)
PROBE_CPU_SECONDS = Metric(
    "probe_cpu_seconds", "s", "lower", "user and system time of the probes' threads", "the agent's accounting"
)
ENERGY = Metric(
    "energy",
    "J",
    "lower",
    "what the hosts drew from the first job's submission to the last one's finish, or during the run; by what was "
    "measured: @node, @pdu; @package is that of processors and memory alone. Only where every host was measured",
    "meters (--meters)",
)
NET_ENERGY = Metric(
    "net_energy", "J", "lower", "energy less what the same hosts draw when nothing runs", "meters, and idle power"
)
MEAN_POWER = Metric("mean_power", "W", "lower", "energy ÷ its time", "meters (--meters)")
PEAK_POWER = Metric(
    "peak_power", "W", "lower", "the highest power of the hosts together, as fine as their meters are", "meters"
)
ENERGY_PER_TB = Metric("energy_per_tb", "Wh/TB", "lower", "energy ÷ the bytes of throughput", "energy and throughput")
ENERGY_PER_RECORD = Metric(
    "energy_per_record", "J", "lower", "energy ÷ the records of the workload's data", "energy and the dataset"
)
WORK_PER_JOULE = Metric(
    "work_per_joule", "MB/J", "higher", "the bytes of throughput ÷ energy: performance per watt", "energy, throughput"
)
ENERGY_DELAY = Metric("energy_delay", "J s", "lower", "energy · its time: both count alike", "energy")
ENERGIES = (
    ENERGY,
    NET_ENERGY,
    MEAN_POWER,
    PEAK_POWER,
    ENERGY_PER_TB,
    ENERGY_PER_RECORD,
    WORK_PER_JOULE,
    ENERGY_DELAY,
)
BOUND_NETWORK = Metric(
    "bound_network",
    "B/s",
    "neither",
    "payload of one TCP stream to another host: the most that a host reached with any; of simulated hosts what the "
    "slowest reached when they started",
    "calibration",
)
NETWORK_WAY = Metric(
    "network_way",
    "B/s",
    "neither",
    "payload of one TCP stream from this host to the one that the role names, while the other hosts are busy with each "
    "other",
    "calibration",
)
BOUND_CPU = Metric(
    "bound_cpu_cores", "cores", "neither", "processors' worth of work while all of them were kept busy", "calibration"
)
BOUND_DISK_WRITE = Metric(
    "bound_disk_write",
    "B/s",
    "neither",
    "one stream of sequential writes through the page cache, fsync included; not what the device can do",
    "calibration",
)
BOUND_DISK_READ = Metric(
    "bound_disk_read", "B/s", "neither", "sequential read past the page cache, four blocks at a time", "calibration"
)
BOUNDS = (
    BOUND_CPU,
    BOUND_DISK_WRITE,
    BOUND_DISK_READ,
    Metric("bound_loopback", "B/s", "neither", "one TCP stream through the loopback interface", "calibration"),
    BOUND_NETWORK,
)

COMMON = (
    JOB_SECONDS,
    CLIENT_SECONDS,
    CLIENT_START_SECONDS,
    THROUGHPUT,
    CPU_SECONDS,
    DAEMON_CPU_SECONDS,
    CLIENT_CPU_SECONDS,
    MEMORY_SECONDS,
    VCORE_SECONDS,
    PROBE_CPU_SECONDS,
    *ENERGIES,
    *BOUNDS,
    NETWORK_WAY,
)


def metrics_of(workload: Workload) -> dict[str, Metric]:
    """Return every metric that a run of `workload` may have, by name."""
    return registry((*COMMON, *workload.metrics))
