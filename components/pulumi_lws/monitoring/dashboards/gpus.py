"""The dashboard of GPUs and EFA: is the hardware sound, is it used, and does each node offer its interfaces?

Nothing counts the traffic of EFA: it passes no interface of the pod, and its counters are read by no exporter here.
"""

from pulumi_lws.monitoring.dashboards.dashboard import Dashboard, Limits, Panel, Query, Row, stat
from pulumi_lws.monitoring.dashboards.selecting import (
    DEPLOYMENTS,
    EFA,
    EVERY,
    IN_POOL,
    OF_ROLE,
    POOLS,
    ROLE,
    of,
    on_nodes,
    on_pods,
    requested,
)
from pulumi_lws.monitoring.promql import by, left, on
from pulumi_lws.monitoring.settings import Monitoring

_GPU = "{{Hostname}} GPU {{gpu}}"
_OF_NODE = "{{node}}"
_BAD_IF_ANY = Limits(1, 1)


def gpus(_settings: Monitoring) -> Dashboard:
    """Return the dashboard."""
    return Dashboard(
        uid="lws-gpus",
        title="Models: GPUs and EFA",
        answers="Is the hardware sound, is it used, and does each node offer its EFA interfaces?",
        variables=(*DEPLOYMENTS, *POOLS),
        rows=(
            Row("Now", _now()),
            Row("Use", _use()),
            Row("Errors", _errors()),
            Row("Heat and power", _heat()),
            Row("EFA and traffic", _network()),
        ),
    )


def _now() -> tuple[Panel, ...]:
    return (
        stat("GPUs in use", "How many GPUs do pods have?", f"count({on_pods('DCGM_FI_DEV_GPU_UTIL')})", width=6),
        stat("Busy", "How busy are they?", f"avg({on_pods('DCGM_FI_DEV_GPU_UTIL')})", "percent", width=6),
        stat(
            "GPUs with errors",
            "How many had an XID error since the exporter started?",
            "count(DCGM_FI_DEV_XID_ERRORS > 0) or vector(0)",
            width=6,
            limits=_BAD_IF_ANY,
        ),
        stat(
            "EFA interfaces missing",
            "How many do nodes offer less than they have?",
            f"sum({_missing()} > 0) or vector(0)",
            width=6,
            limits=_BAD_IF_ANY,
        ),
    )


def _offered() -> str:
    return f'kube_node_status_allocatable{{resource="{EFA}"}}'


def _missing() -> str:
    nodes = f"lws:node:info{IN_POOL}"
    expected = f"sum by (node) ({nodes} * {on(('pool',))} {left()} lws:pool:efa_expected)"
    # A node whose device plugin does not run says nothing.
    return f"({expected} - (sum by (node) ({_offered()}) or sum by (node) ({nodes} * 0)))"


def _use() -> tuple[Panel, ...]:
    used = "DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE + DCGM_FI_DEV_FB_RESERVED)"
    return (
        Panel(
            "Busiest GPU of each group",
            "Does a group compute at all? A line at 0 is paid for and does nothing.",
            (Query(of("lws:group:gpu_utilization:max"), "{{deployment}} {{role}} {{group}}"),),
            unit="percent",
            maximum=100,
            alerts=("LwsGpuIdle",),
        ),
        Panel(
            "Tensor cores",
            "Do GPUs compute, or wait for memory and network? Prompts use them, answers hardly do.",
            (Query(f"avg {by(ROLE)} ({on_pods('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE')})", OF_ROLE),),
            unit="percentunit",
            maximum=1,
        ),
        Panel(
            "Memory bandwidth",
            "Do GPUs read memory as fast as they can? Answers do.",
            (Query(f"avg {by(ROLE)} ({on_pods('DCGM_FI_PROF_DRAM_ACTIVE')})", OF_ROLE),),
            unit="percentunit",
            maximum=1,
        ),
        Panel(
            "Memory in use",
            "Is a GPU about to run out of memory? Engines take their share at the start.",
            (Query(f"max {by((*ROLE, 'pod'))} ({on_pods(f'({used})')})", "{{pod}}"),),
            unit="percentunit",
            maximum=1,
            width=12,
        ),
        Panel(
            "Least busy GPU of each pod",
            "Does one rank do less than the others?",
            (Query(f"min {by((*ROLE, 'pod'))} ({on_pods('DCGM_FI_DEV_GPU_UTIL')})", "{{pod}}"),),
            unit="percent",
            maximum=100,
            width=12,
        ),
    )


def _errors() -> tuple[Panel, ...]:
    error = f"max {by(('Hostname', 'gpu', 'namespace', 'pod', 'err_code', 'err_msg'))} (DCGM_FI_DEV_XID_ERRORS > 0)"
    return (
        Panel(
            "XID errors",
            "Which GPU had which error, and whose pod has it?",
            (Query(error, "XID"),),
            kind="table",
            width=12,
            columns={
                "Hostname": "Node",
                "gpu": "GPU",
                "namespace": "Namespace",
                "pod": "Pod",
                "err_code": "Code",
                "err_msg": "Meaning",
            },
            alerts=("LwsGpuError",),
        ),
        Panel(
            "Memory that failed",
            "Which GPU has memory that lost data, or cannot be replaced any more?",
            (
                Query("max by (Hostname, gpu) (DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS)", f"{_GPU} rows replaced"),
                Query("max by (Hostname, gpu) (DCGM_FI_DEV_ROW_REMAP_FAILURE)", f"{_GPU} not replaced"),
            ),
            width=12,
            alerts=("LwsGpuMemoryFailing",),
        ),
    )


def _heat() -> tuple[Panel, ...]:
    return (
        Panel(
            "Hottest GPU of each node",
            "Is a node too hot? GPUs get slower from about 85 °C on.",
            (
                Query("max by (Hostname) (DCGM_FI_DEV_GPU_TEMP)", "{{Hostname}} GPU"),
                Query("max by (Hostname) (DCGM_FI_DEV_MEMORY_TEMP)", "{{Hostname}} memory"),
            ),
            unit="celsius",
        ),
        Panel(
            "Slowest clock of each node",
            "Does a GPU slow down while others do not?",
            (Query("min by (Hostname) (DCGM_FI_DEV_SM_CLOCK)", "{{Hostname}}"),),
            unit="rotmhz",
        ),
        Panel(
            "Power",
            "How much do the models draw?",
            (Query(f"sum {by(ROLE)} ({on_pods('DCGM_FI_DEV_POWER_USAGE')})", OF_ROLE),),
            unit="watt",
            stacked=True,
        ),
    )


def _network() -> tuple[Panel, ...]:
    asked = f"sum by (pool) ({on_nodes(f'sum by (node) ({requested(EFA)})')})"
    pcie = "DCGM_FI_PROF_PCIE_TX_BYTES + DCGM_FI_PROF_PCIE_RX_BYTES"
    nvlink = f"sum by (Hostname) (rate(DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL{EVERY}))"
    return (
        Panel(
            "EFA interfaces missing, by node",
            "Which node offers less than it has? Groups on it go over TCP, or find no room.",
            (Query(f"{_missing()} > 0", _OF_NODE),),
            alerts=("LwsEfaMissing",),
        ),
        Panel(
            "EFA interfaces, by pool",
            "How many do nodes offer, and how many do pods have?",
            (
                Query(f"sum by (pool) ({on_nodes(_offered())})", "{{pool}} offered"),
                Query(asked, "{{pool}} taken"),
            ),
        ),
        Panel(
            "NVLink, by node",
            "Do the GPUs of a node talk to each other?",
            (Query(nvlink, "{{Hostname}}"),),
            unit="MBs",
        ),
        Panel(
            "PCIe, by role",
            "How much passes between GPUs and network or memory? With EFA, what goes to other nodes is among it.",
            (Query(f"sum {by(ROLE)} ({on_pods(f'({pcie})')})", OF_ROLE),),
            unit="Bps",
            width=12,
        ),
        Panel(
            "KV caches sent",
            "How much does prefill hand to decode? (NIXL)",
            (Query(f"sum {by(ROLE)} (rate({of('vllm:nixl_bytes_transferred_sum')}{EVERY}))", OF_ROLE),),
            unit="Bps",
            width=12,
        ),
    )
