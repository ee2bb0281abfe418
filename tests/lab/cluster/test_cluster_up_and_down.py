"""Bringing real labs up and down, and what may go wrong on the way."""

import errno
import os
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from lab.cluster import certificates, control_plane, crds, parts, ports, processes, record, starting, status
from lab.cluster.control_plane import Outcome
from lab.cluster.crds import Definitions
from lab.cluster.layout import Layout
from lab.errors import LabError
from lab.tools.obtained import Obtained

pytestmark = pytest.mark.lab

Up = Callable[..., Outcome]
Connection = Callable[[Layout], httpx.Client]
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def layout(new_layout: Callable[[], Layout]) -> Iterator[Layout]:
    layout = new_layout()
    yield layout
    control_plane.down(layout, keep=False)


def _pids(layout: Layout) -> dict[str, int]:
    return {found.part: found.process.pid for found in processes.find(layout.folder)}


def _kill(pid: int) -> None:
    process = psutil.Process(pid)
    process.kill()
    process.wait(10)


def _with_program(tools: Mapping[str, Obtained], tool: str, program: str, path: Path) -> dict[str, Obtained]:
    other = replace(tools[tool], binaries={**tools[tool].binaries, program: path})
    return {**tools, tool: other}


def test_a_second_up_starts_nothing_and_a_repaired_lab_keeps_its_other_parts(
    layout: Layout, up: Up, connection: Connection, eventually: Callable[[Callable[[], Any], Any], None]
) -> None:
    first = up(layout, "p5=p5.48xlarge:1x1")
    assert (first.started, first.crashed) == (parts.ALWAYS, {})
    before = _pids(layout)
    assert up(layout) == Outcome((), {}, first.api_port)
    assert _pids(layout) == before

    _kill(before["kwok"])
    repaired = up(layout)
    assert (repaired.started, list(repaired.crashed), repaired.api_port) == (("kwok",), ["kwok"], first.api_port)
    assert "Watch nodes" in repaired.crashed["kwok"]
    after = _pids(layout)
    assert {part for part in after if after[part] != before[part]} == {"kwok"}
    spec = {"tolerations": [{"operator": "Exists"}], "containers": [{"name": "main", "image": "none"}]}
    with connection(layout) as api:
        api.post(PODS, json={"metadata": {"name": "one"}, "spec": spec}).raise_for_status()
        eventually(lambda: api.get(f"{PODS}/one").json()["status"]["phase"], "Running")


def test_a_part_that_dies_is_shown_with_its_log_until_it_is_repaired(layout: Layout, up: Up) -> None:
    up(layout)
    healthy = status.look(layout)
    assert healthy is not None
    assert healthy.all_run
    assert [part.name for part in healthy.parts if part.port] == list(parts.ALWAYS[:-1])
    _kill(_pids(layout)["kube-scheduler"])
    hurt = status.look(layout)
    assert hurt is not None
    assert not hurt.all_run
    (dead,) = [part for part in hurt.parts if not part.running]
    assert (dead.name, dead.pid, bool(dead.log_end)) == ("kube-scheduler", None, True)


def test_down_ends_everything_and_deletes_the_state_also_when_repeated(layout: Layout, up: Up) -> None:
    up(layout)
    assert control_plane.down(layout, keep=False) == parts.ALWAYS
    assert (processes.find(layout.folder), layout.folder.exists(), layout.lock.exists()) == ([], False, False)
    assert control_plane.down(layout, keep=False) == ()
    assert status.look(layout) is None


def test_down_finds_what_runs_when_the_state_is_gone_and_a_part_is_dead(layout: Layout, up: Up) -> None:
    up(layout)
    _kill(_pids(layout)["kwok"])
    shutil.rmtree(layout.folder)
    strays = status.look(layout)
    assert strays is not None
    assert not strays.all_run
    assert "kube-apiserver" in control_plane.down(layout, keep=False)
    assert processes.find(layout.folder) == []


def test_down_ends_plugins_that_a_killed_engine_left_behind(layout: Layout) -> None:
    layout.programs.mkdir(parents=True)
    plugin = shutil.copy("/bin/sleep", layout.programs / "plugin")
    process = psutil.Process(os.posix_spawn(plugin, ["plugin", "60"], {}))
    assert processes.find(layout.folder) == []
    assert control_plane.down(layout, keep=False) == ()
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_a_kept_lab_comes_back_with_its_objects_at_the_same_address(
    layout: Layout, up: Up, connection: Connection
) -> None:
    first = up(layout)
    with connection(layout) as api:
        made = api.post(CONFIG_MAPS, json={"metadata": {"name": "kept"}}).raise_for_status().json()
    control_plane.down(layout, keep=True)
    assert processes.find(layout.folder) == []
    assert up(layout) == Outcome(parts.ALWAYS, {}, first.api_port)
    with connection(layout) as api:
        assert api.get(f"{CONFIG_MAPS}/kept").json()["metadata"]["uid"] == made["metadata"]["uid"]


def test_certificates_near_their_end_are_renewed_and_everything_starts_anew(
    layout: Layout, up: Up, said: list[str]
) -> None:
    up(layout)
    certificates.issue(layout, datetime.now(UTC) - certificates.VALIDITY + certificates.RENEWAL)
    assert up(layout).started == parts.ALWAYS
    assert said == ["The certificates of this lab are close to their end; it starts anew with new ones."]
    assert not certificates.are_due(layout)


def test_two_labs_run_side_by_side_and_share_nothing(
    layout: Layout, new_layout: Callable[[], Layout], up: Up, connection: Connection
) -> None:
    other = new_layout()
    up(layout, "one=p5.48xlarge:1")
    up(other, "two=g6e.12xlarge:1")
    names = []
    for each in (layout, other):
        with connection(each) as api:
            names.append([node["metadata"]["name"] for node in api.get("/api/v1/nodes").json()["items"]])
    assert names == [["one-0"], ["two-0"]]
    control_plane.down(other, keep=False)
    assert tuple(_pids(layout)) == parts.ALWAYS


def test_a_part_that_ends_during_the_start_is_shown_with_its_log_and_all_is_stopped(
    layout: Layout, tools: dict[str, Obtained], tmp_path: Path
) -> None:
    broken = tmp_path / "kwok"
    broken.write_text("#!/bin/sh\necho no such luck\nexit 3\n")
    broken.chmod(0o755)
    wish = control_plane.Wish(_with_program(tools, "kwok", "kwok", broken), Definitions())
    with pytest.raises(starting.PartFailedError) as failure:
        control_plane.up(layout, wish, lambda _: None)
    assert (failure.value.sentence, failure.value.way_out, failure.value.detail) == (
        "kwok ended with status 3.",
        f"Its log ends as below; all of it is in {layout.log('kwok')}.",
        "no such luck",
    )
    assert processes.find(layout.folder) == []


def test_a_program_that_is_gone_is_one_sentence(layout: Layout, tools: dict[str, Obtained], tmp_path: Path) -> None:
    wish = control_plane.Wish(_with_program(tools, "etcd", "etcd", tmp_path / "gone"), Definitions())
    with pytest.raises(LabError) as failure:
        control_plane.up(layout, wish, lambda _: None)
    assert failure.value.sentence == f"etcd cannot be started: {tmp_path / 'gone'}: No such file or directory."


def test_a_port_that_is_lost_between_choice_and_start_is_chosen_again(
    layout: Layout, up: Up, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = ports.choose
    with socket.socket() as thief:
        thief.bind((ports.LOOPBACK, 0))
        thief.listen()
        stolen = {"kwok": thief.getsockname()[1]}

        def choose_stolen_once(*arguments: Any) -> dict[str, int]:
            monkeypatch.setattr(ports, "choose", choose)
            return choose(*arguments) | stolen

        monkeypatch.setattr(ports, "choose", choose_stolen_once)
        assert up(layout).started == parts.ALWAYS
    assert said == ["Another program took one of the ports; trying others."]


def test_the_port_of_the_api_server_can_be_pinned_and_not_changed_while_it_runs(layout: Layout, up: Up) -> None:
    (port,) = ports.choose(["api"], {}, {}).values()
    assert up(layout, api_port=port).api_port == port
    before = _pids(layout)
    with pytest.raises(LabError) as refused:
        up(layout, api_port=port + 1)
    assert refused.value.sentence == f"This lab already runs, with its API server on port {port}."
    assert _pids(layout) == before


def test_a_taken_pinned_port_is_refused_and_nothing_starts(layout: Layout, up: Up) -> None:
    with socket.socket() as other:
        other.bind((ports.LOOPBACK, 0))
        other.listen()
        with pytest.raises(LabError, match="is taken by another program"):
            up(layout, api_port=other.getsockname()[1])
    assert processes.find(layout.folder) == []


def test_a_full_disk_is_one_sentence_and_nothing_runs(layout: Layout, up: Up, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(record, "save", fail)
    with pytest.raises(LabError) as failure:
        up(layout)
    assert failure.value.sentence == "The lab cannot write its state: [Errno 28] No space left on device."
    assert processes.find(layout.folder) == []


def test_a_wish_that_fails_leaves_a_running_lab_running(layout: Layout, up: Up, tmp_path: Path) -> None:
    up(layout)
    (tmp_path / "broken.yaml").write_text("a: [")
    with pytest.raises(LabError, match="is not YAML"):
        up(layout, crds=Definitions((crds.Release("lws", "1.0", tmp_path),)))
    assert tuple(_pids(layout)) == parts.ALWAYS


def test_a_start_that_was_cut_off_is_cleaned_up_by_the_next(layout: Layout, up: Up, said: list[str]) -> None:
    up(layout)
    known = record.load(layout)
    assert known is not None
    record.save(layout, replace(known, complete=False))
    before = _pids(layout)
    assert up(layout).started == parts.ALWAYS
    assert said == ["An earlier start was cut off; cleaning up after it."]
    assert not set(before.values()) & set(_pids(layout).values())


def test_upstream_schemas_replace_stand_ins_of_a_running_lab_and_refuse_what_is_wrong(
    layout: Layout, up: Up, connection: Connection, upstream: Definitions
) -> None:
    path = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"
    wrong = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "wrong"},
        "spec": {"leaderWorkerTemplate": {"size": "many"}},
    }
    up(layout)
    with connection(layout) as api:
        assert api.post(path, json=wrong, params={"dryRun": "All"}).status_code == 201
        assert up(layout, crds=upstream).started == ()
        refused = api.post(path, json=wrong, params={"dryRun": "All"})
        assert (refused.status_code, "spec.leaderWorkerTemplate.size: Invalid value" in refused.json()["message"]) == (
            422,
            True,
        )
    found = status.look(layout)
    assert found is not None
    assert found.upstream_crds["leaderworkersets.leaderworkerset.x-k8s.io"] == "lws-0.10.0"
    assert "nodeclasses.eks.amazonaws.com" in found.stand_in_crds
    assert crds.STAND_IN not in found.upstream_crds.values()
