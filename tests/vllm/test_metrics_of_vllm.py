"""vLLM exposes what our table of metrics says of it."""

import re

from lab.tools.progress import reporter
from lab.vllm.environment import interpreter
from pulumi_lws.monitoring.metrics import METRICS


def test_vllm_defines_every_metric_of_the_table_where_it_says() -> None:
    [packages] = interpreter(reporter()).parent.parent.glob("lib/python*/site-packages")
    ours = [metric for metric in METRICS.values() if metric.name.startswith("vllm:")]
    defined = {
        source: set(re.findall(r'name="(vllm:\w+)"', (packages / source).read_text(encoding="utf-8")))
        for source in {metric.source.documented for metric in ours}
    }
    # The client library of Prometheus adds the end of counters.
    found = {each.name: each.name.removesuffix("_total" if each.kind == "counter" else "") for each in ours}
    assert [each.name for each in ours if found[each.name] not in defined[each.source.documented]] == []
