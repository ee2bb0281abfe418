"""Metrics of GPUs. The exporter's own labels must win over those of its scrape: ``honorLabels``."""

from pulumi_lws.monitoring.metrics.metric import Metric, Source, rows

DCGM = Source("DCGM exporter", "etc/default-counters.csv", "4.8")

_GPU = ("gpu", "UUID", "device", "modelName", "Hostname", "namespace", "pod", "container")
_SHARE = "share, 0 to 1"

GPUS: tuple[Metric, ...] = (
    *rows(
        DCGM,
        "gauge",
        _GPU,
        ("DCGM_FI_DEV_GPU_UTIL", "percent", "time in which a kernel ran; Hostname is the node"),
        ("DCGM_FI_DEV_GPU_TEMP", "°C", "temperature of the GPU"),
        ("DCGM_FI_DEV_MEMORY_TEMP", "°C", "temperature of its memory"),
        ("DCGM_FI_DEV_POWER_USAGE", "watts", "power drawn"),
        ("DCGM_FI_DEV_SM_CLOCK", "MHz", "clock"),
        ("DCGM_FI_DEV_FB_USED", "MiB", "memory in use"),
        ("DCGM_FI_DEV_FB_FREE", "MiB", "memory free"),
        ("DCGM_FI_DEV_FB_RESERVED", "MiB", "memory that the driver keeps"),
        ("DCGM_FI_DEV_ROW_REMAP_FAILURE", "0 or 1", "whether memory with errors could not be replaced"),
        ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", _SHARE, "time in which the GPU was active"),
        ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", _SHARE, "cycles in which its tensor cores were"),
        ("DCGM_FI_PROF_DRAM_ACTIVE", _SHARE, "cycles in which its memory was"),
        ("DCGM_FI_PROF_PCIE_TX_BYTES", "bytes/s", "traffic from the GPU over PCIe"),
        ("DCGM_FI_PROF_PCIE_RX_BYTES", "bytes/s", "traffic to the GPU over PCIe"),
    ),
    *rows(
        DCGM,
        "gauge",
        (*_GPU, "err_code", "err_msg"),
        ("DCGM_FI_DEV_XID_ERRORS", "XID", "the last XID error since the exporter started; 0 for none"),
    ),
    *rows(
        DCGM,
        "counter",
        _GPU,
        ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "rows", "memory replaced after errors that lost data"),
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "MB", "traffic between the GPUs of a node"),
    ),
)
"""All of them."""
