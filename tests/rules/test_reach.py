"""An index finds the pods that a selector may reach, and no others, as a look at each of them would."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pulumi_lws.rules.reach import reachable, reached
from pulumi_lws.rules.rule import Program, RegisteredObject
from pulumi_lws.rules.values import UNKNOWN

LWS = "leaderworkerset.sigs.k8s.io"
KEYS = ("app", f"{LWS}/name", f"{LWS}/worker-index", "disaggregatedset.x-k8s.io/name", "ray.io/cluster")
keys = st.sampled_from(KEYS)
values = st.sampled_from(["a", "a-b", "a-b-0", "0", 7, ["a"], UNKNOWN])
labels = st.dictionaries(keys, values, max_size=2) | st.just(UNKNOWN) | st.just("text")
expressions = st.fixed_dictionaries(
    {"key": keys, "operator": st.sampled_from(["In", "Exists"]), "values": st.lists(values, max_size=2)}
)
selectors = st.fixed_dictionaries(
    {}, optional={"matchLabels": labels, "matchExpressions": st.lists(expressions, max_size=2) | st.just(UNKNOWN)}
)


def owner(kind: str, name: Any, labelled: Any) -> RegisteredObject:
    template = {"metadata": {"labels": labelled}}
    groups = {"leaderWorkerTemplate": {"size": 2, "workerTemplate": template}}
    specs: dict[str, Any] = {
        "apps/v1:Deployment": {"template": template},
        "ray.io/v1:RayCluster": {"headGroupSpec": {"template": template}},
        "leaderworkerset.x-k8s.io/v1:LeaderWorkerSet": groups,
        "disaggregatedset.x-k8s.io/v1:DisaggregatedSet": {"roles": [{"name": "a", "spec": groups}]},
    }
    return RegisteredObject(f"kubernetes:{kind}", {"metadata": {"name": name}, "spec": specs[kind]})


owners = st.builds(
    owner,
    st.sampled_from(
        [
            "apps/v1:Deployment",
            "ray.io/v1:RayCluster",
            "leaderworkerset.x-k8s.io/v1:LeaderWorkerSet",
            "disaggregatedset.x-k8s.io/v1:DisaggregatedSet",
        ]
    ),
    values,
    labels,
)


@settings(max_examples=1000)
@given(st.lists(owners, max_size=6), selectors)
def test_an_index_finds_what_a_look_at_each_finds(found: list[RegisteredObject], selector: dict[str, Any]) -> None:
    program = Program(found)
    pods = [pods for each in program for pods in reachable(each)]
    expected = [(each, met) for each in pods if (met := each.meets(selector)) is not False]
    assert list(reached(selector, "default", program)) == expected
