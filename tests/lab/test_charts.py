"""The charts that stand in for upstream's: what they bring, and that nobody ever reads half of one."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab import charts
from lab.cluster.crds import Definitions, Release
from lab.cluster.kinds import KINDS
from pulumi_lws.addons.catalogue import ADD_ONS

LWS = "leaderworkersets.leaderworkerset.x-k8s.io"


def files(folder: Path) -> dict[str, str]:
    """Everything that an engine may read below a folder."""
    unread = {folder / ".lock", folder / ".draft"}
    paths = [path for path in folder.rglob("*") if path.is_file() and path not in unread]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


@pytest.fixture
def others(tmp_path: Path) -> Definitions:
    """Definitions of upstream, which differ from the stand-ins."""
    folder = tmp_path / "lws-0.10.0"
    folder.mkdir()
    [definition] = [one for one in Definitions().read() if one["metadata"]["name"] == LWS]
    definition["spec"]["names"]["shortNames"] = ["lws"]
    (folder / "lws.yaml").write_text(json.dumps(definition))
    return Definitions((Release("lws", "0.10.0", folder),))


def test_charts_bring_exactly_the_kinds_that_a_bare_lab_lacks() -> None:
    by_an_add_on = {name for facts in ADD_ONS.values() for name in facts.crds}
    assert {kind.name for kind in KINDS if kind.component in charts.COMPONENTS} == {
        kind.name for kind in KINDS if kind.name in by_an_add_on
    }
    left = Definitions(left_out=charts.COMPONENTS)
    assert {one["metadata"]["name"] for one in left.read()} == {kind.name for kind in KINDS} - by_an_add_on
    assert left.sources == [f"no {name}" for name in sorted(charts.COMPONENTS)]


def test_a_chart_has_a_description_its_kinds_and_its_controllers(tmp_path: Path) -> None:
    charts.write(tmp_path, Definitions())
    written = files(tmp_path)
    lws = {name.removeprefix("lws/"): text for name, text in written.items() if name.startswith("lws/")}
    assert set(lws) == {
        *("Chart.yaml", "values.yaml", "templates/controllers.yaml", "templates/values.yaml"),
        *(f"crds/{name}.yaml" for name in ADD_ONS["lws"].crds),
    }
    assert json.loads(lws["Chart.yaml"])["name"] == "lws"
    assert json.loads(lws[f"crds/{LWS}.yaml"])["metadata"]["name"] == LWS
    assert {facts.chart for facts in ADD_ONS.values() if not facts.manifests} == {
        name.partition("/")[0] for name in written if "/" in name
    }
    one_file = list(yaml.safe_load_all(written["inference-pools.yaml"]))
    assert [one["kind"] for one in one_file] == ["CustomResourceDefinition"]


def test_what_is_there_is_not_written_again_and_what_is_old_goes(tmp_path: Path) -> None:
    charts.write(tmp_path, Definitions())
    first = {path: path.stat().st_ino for path in tmp_path.rglob("*.yaml")}
    old = tmp_path / "lws" / "crds" / "gone.example.com.yaml"
    old.write_text("{}")
    charts.write(tmp_path, Definitions())
    assert {path: path.stat().st_ino for path in tmp_path.rglob("*.yaml")} == first


def test_nobody_reads_half_of_a_file_that_a_killed_lab_wrote(
    tmp_path: Path, others: Definitions, monkeypatch: pytest.MonkeyPatch
) -> None:
    charts.write(tmp_path / "charts", Definitions())
    before = files(tmp_path / "charts")
    write_text = Path.write_text

    def half(path: Path, text: str, **options: Any) -> int:
        write_text(path, text[: len(text) // 2], **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(KeyboardInterrupt):
        charts.write(tmp_path / "charts", others)
    assert files(tmp_path / "charts") == before
    monkeypatch.undo()
    charts.write(tmp_path / "charts", others)
    assert "shortNames" in files(tmp_path / "charts")[f"lws/crds/{LWS}.yaml"]


def test_two_labs_at_once_leave_the_charts_of_one_of_them(tmp_path: Path, others: Definitions) -> None:
    wanted = []
    for number, definitions in enumerate((Definitions(), others)):
        charts.write(tmp_path / str(number), definitions)
        wanted.append(files(tmp_path / str(number)))
    for _ in range(5):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda one: charts.write(tmp_path / "both", one), (Definitions(), others)))
        assert files(tmp_path / "both") in wanted
