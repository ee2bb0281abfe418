"""Dashboards hold together: places, variables, metrics, runbooks. Each panel answers a question."""

import json
import re
from typing import Any

import pytest

from pulumi_lws.monitoring.dashboards.dashboard import COLUMNS, Dashboard, Limits, Panel, Query, Row
from pulumi_lws.monitoring.dashboards.grafana import grafana_json
from pulumi_lws.monitoring.dashboards.manifests import dashboard_objects, dashboards, grafana_values
from pulumi_lws.monitoring.metrics.labels import SCRAPED
from pulumi_lws.monitoring.rules import alert_names
from pulumi_lws.monitoring.settings import Monitoring
from tests.conftest import PROJECT
from tests.monitoring.queries import named
from tests.monitoring.test_metric_table import _labels_of

RUNBOOKS = "https://wiki.example.com/runbooks"
SETTINGS = Monitoring(runbook_base=RUNBOOKS)
DASHBOARDS = {each.uid: each for each in dashboards(SETTINGS)}
WRITTEN = {uid: grafana_json(each, RUNBOOKS) for uid, each in DASHBOARDS.items()}
PANELS = {f"{uid}: {panel.title}": panel for uid, each in DASHBOARDS.items() for panel in each.panels}
_LARGEST_CONFIG_MAP = 1 << 20

every_dashboard = pytest.mark.parametrize("uid", DASHBOARDS)


def filled_in(expression: str) -> str:
    """Return a query as Grafana sends it where everything is chosen."""
    return re.sub(r"\$\w+", lambda found: "5m" if found[0].startswith("$__") else ".*", expression)


def labels_of(series: str) -> frozenset[str]:
    """Return the labels of a series; all that engines expose comes by our monitor, NIXL's too."""
    return _labels_of(series) | frozenset(SCRAPED if series.startswith("vllm:") else ())


@every_dashboard
def test_panels_have_numbers_and_titles_of_their_own_and_do_not_lie_on_one_another(uid: str) -> None:
    panels = WRITTEN[uid]["panels"]
    assert [panel["id"] for panel in panels] == [*range(1, len(panels) + 1)]
    titles = [panel.title for panel in DASHBOARDS[uid].panels]
    assert len(titles) == len({*titles})
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (column, line)
            for column in range(place["x"], place["x"] + place["w"])
            for line in range(place["y"], place["y"] + place["h"])
        }
        assert max(column for column, _ in cells) < COLUMNS
        assert not cells & taken
        taken |= cells


@every_dashboard
def test_all_queries_go_to_the_chosen_source_of_data(uid: str) -> None:
    def sources(value: Any) -> Any:
        if isinstance(value, dict):
            yield from (value["datasource"] for key in value if key == "datasource")
            for part in value.values():
                yield from sources(part)
        elif isinstance(value, list):
            for part in value:
                yield from sources(part)

    found = list(sources(WRITTEN[uid]))
    assert found
    assert {json.dumps(each) for each in found} == {'{"type": "prometheus", "uid": "${datasource}"}'}
    assert WRITTEN[uid]["templating"]["list"][0]["name"] == "datasource"


@every_dashboard
def test_variables_are_declared_before_they_are_used_and_used(uid: str) -> None:
    known: set[str] = set()
    for variable in DASHBOARDS[uid].variables:
        assert set(re.findall(r"\$(\w+)", variable.values)) <= known
        known.add(variable.name)
    expressions = " ".join(query.expression for panel in DASHBOARDS[uid].panels for query in panel.queries)
    assert set(re.findall(r"\$(\w+)", expressions)) - {"__rate_interval"} == known


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS)
def test_queries_name_metrics_and_labels_that_somebody_exposes(panel: Panel) -> None:
    for query in panel.queries:
        found = named(filled_in(query.expression))
        known = {metric: labels_of(metric) for metric, _ in found.selectors}
        unknown = {metric: matched - known[metric] for metric, matched in found.selectors}
        assert {metric: labels for metric, labels in unknown.items() if labels} == {}
        assert found.labels - found.made - set().union(*known.values()) == set()


@every_dashboard
def test_choices_of_variables_are_labels_that_somebody_exposes(uid: str) -> None:
    for variable in DASHBOARDS[uid].variables:
        query, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable.values).groups()  # type: ignore[union-attr]  # a miss is a failure
        ((metric, matched),) = named(filled_in(query)).selectors
        assert {label, *matched} <= labels_of(metric)


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS)
def test_each_panel_says_which_question_it_answers(panel: Panel) -> None:
    assert "?" in panel.asks
    legends = {label for query in panel.queries for label in re.findall(r"{{(\w+)}}", query.legend)}
    of_series = {label for query in panel.queries for label in _labels_in(query)}
    assert legends | set(panel.columns) <= of_series


def test_every_alert_has_a_panel_and_every_panel_a_runbook_that_exists() -> None:
    shown = [name for each in DASHBOARDS.values() for name in each.alerts]
    # That nothing is seen is shown by empty panels.
    unseen = {"LwsServingUnseen", "LwsStateMetricsMissing", "LwsGpuMetricsMissing"}
    assert set(shown) == set(alert_names()) - unseen
    links = {link["url"] for each in WRITTEN.values() for panel in each["panels"] for link in panel.get("links", ())}
    assert links == {f"{RUNBOOKS}#{name.lower()}" for name in shown}


def test_the_page_about_dashboards_says_what_they_answer_and_where_to_look() -> None:
    text = (PROJECT / "docs" / "dashboards.md").read_text(encoding="utf-8")
    rows = {tuple(line.strip("| ").split(" | ")) for line in text.splitlines() if line.startswith("| ")}
    answers = {(each.title, each.answers) for each in DASHBOARDS.values()}
    places = {
        (name, each.title, panel.title)
        for each in DASHBOARDS.values()
        for panel in each.panels
        for name in panel.alerts
    }
    assert rows == answers | places | {("dashboard", "answers"), ("alert", "dashboard", "panel")}


def test_a_page_of_a_repository_is_not_linked_to() -> None:
    written = grafana_json(DASHBOARDS["lws-groups"], Monitoring().runbook_base)
    assert [panel["links"] for panel in written["panels"] if panel.get("links")] == []


def test_lines_stand_where_alerts_fire() -> None:
    settings = Monitoring.model_validate({"thresholds": {"firstTokenSeconds": 4, "waitingRequests": 6}})
    (of_serving,) = [each for each in dashboards(settings) if each.uid == "lws-serving"]
    limits = {panel.title: panel.limits for panel in of_serving.panels}
    assert limits["First token"] == Limits(2, 4)
    assert limits["Waiting, for each pod"] == Limits(3, 6)


@pytest.mark.parametrize(
    ("limits", "steps"),
    [
        (None, [("blue", None)]),
        (Limits(1, 2), [("green", None), ("orange", 1), ("red", 2)]),
        (Limits(2, 1), [("red", None), ("orange", 1), ("green", 2)]),
    ],
    ids=["none", "high is bad", "low is bad"],
)
def test_colors_follow_from_limits(limits: Limits | None, steps: list[tuple[str, float | None]]) -> None:
    panel = Panel("One", "Is it?", (Query("up"),), limits=limits)
    written = grafana_json(Dashboard("one", "One", "Is it?", (), (Row("Row", (panel,)),)), RUNBOOKS)
    found = written["panels"][1]["fieldConfig"]["defaults"]["thresholds"]
    assert found == {"mode": "absolute", "steps": [{"color": color, "value": value} for color, value in steps]}


def test_dashboards_are_config_maps_that_the_sidecar_finds() -> None:
    settings = Monitoring(namespace="observability", object_labels={"team": "a"})
    objects = dashboard_objects(settings)
    assert [*objects] == [f"dashboard-{uid}" for uid in DASHBOARDS]
    folders = grafana_values()["grafana"]["sidecar"]["dashboards"]["folderAnnotation"]
    for uid, each in zip(DASHBOARDS, objects.values(), strict=True):
        assert each["metadata"] == {
            "name": uid,
            "namespace": "observability",
            "labels": {"team": "a", "grafana_dashboard": "1"},
            "annotations": {folders: "Models and GPUs"},
        }
        ((name, text),) = each["data"].items()
        assert name == f"{uid}.json"
        assert json.loads(text)["uid"] == uid
        assert len(text.encode()) < _LARGEST_CONFIG_MAP


def _labels_in(query: Query) -> frozenset[str]:
    """Return the labels that the series of a query may have."""
    found = named(filled_in(query.expression))
    metrics = [labels_of(metric) for metric, _ in found.selectors]
    return frozenset().union(found.labels, *metrics)
