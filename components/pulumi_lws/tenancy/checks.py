"""What keeps teams from working, each by itself, with what runs for it, and together."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from pulumi_lws.planning.problems import Problem
from pulumi_lws.tenancy.demand import Amounts, demand, needed
from pulumi_lws.tenancy.manifests import QUOTA_FIELDS, QuotaField, namespace_of, team_objects
from pulumi_lws.tenancy.needs import level_of, reason
from pulumi_lws.tenancy.pod_security import LEVELS
from pulumi_lws.tenancy.settings import Team
from pulumi_lws.tenancy.workloads import TeamWorkload

_OF_KUBERNETES = "kube-"
"""Start of the names of namespaces that Kubernetes keeps for itself."""


def team_problems(
    teams: Mapping[str, Team],
    workloads: Mapping[str, Sequence[TeamWorkload]],
    taken_namespaces: Collection[str] = (),
) -> list[Problem]:
    """Return what is wrong with teams. Paths start at the stack: ``teams.<name>``, or where a workload is.

    Args:
        teams: Teams by name.
        workloads: What runs for each team, without problems of its own; a team may be left out.
        taken_namespaces: Namespaces that something else of the stack makes.
    """
    found = list(_namespaces(teams, taken_namespaces))
    for name, team in teams.items():
        own = workloads.get(name, ())
        found += [problem.below(f"teams.{name}") for problem in one_team_problems(name, team, own)]
        found += _unreachable(name, team, own)
    return found


def one_team_problems(name: str, team: Team, workloads: Sequence[TeamWorkload]) -> list[Problem]:
    """Return what is wrong with one team; paths start at its settings."""
    namespace = namespace_of(name, team)
    problems = []
    if namespace == "default" or namespace.startswith(_OF_KUBERNETES):
        allowed = f"a namespace other than default and those that start with {_OF_KUBERNETES}"
        problems.append(Problem("namespace", namespace, allowed, "Choose a name of your own."))
    return [*problems, *_quota(team, workloads), *_pod_security(team, workloads), *_names(name, team, workloads)]


def _namespaces(teams: Mapping[str, Team], taken: Collection[str]) -> Iterator[Problem]:
    owners: defaultdict[str, list[str]] = defaultdict(list)
    for name, team in teams.items():
        owners[namespace_of(name, team)].append(name)
    for namespace, names in owners.items():
        if namespace in taken:
            allowed = "a namespace of its own: something else of the stack makes it"
            yield from (
                Problem(f"teams.{name}.namespace", namespace, allowed, "Choose another name.") for name in names
            )
        for name in names[1:]:
            allowed = f"a namespace of its own: {names[0]} has it"
            yield Problem(f"teams.{name}.namespace", namespace, allowed, "Choose another name.")


def _quota(team: Team, workloads: Sequence[TeamWorkload]) -> Iterator[Problem]:
    """Judge a quota under what everything takes at once: the pods beyond it are never made, and nothing says so."""
    needs = needed(workloads)
    for name, field in QUOTA_FIELDS.items():
        declared: int | None = getattr(team.quota, name)
        least = _most(needs, field)
        if declared is None or declared >= least:
            continue
        parts = [_part(one, field) for one in workloads if _most(demand(one), field)]
        yield Problem(
            f"quota.{type(team.quota).model_fields[name].alias}",
            f"{declared} {field.thing}",
            f"at least {least}: {'; '.join(parts)}",
            f"Set it to {least}, or lower the copies, the autoscaler's most or the surge of one of them.",
        )


def _part(workload: TeamWorkload, field: QuotaField) -> str:
    serving, rolling = _most(demand(workload, rolling=False), field), _most(demand(workload), field)
    return f"{workload.name} takes {serving}" + (f", and {rolling} during a rollout" if rolling > serving else "")


def _most(amounts: Amounts, field: QuotaField) -> int:
    """Return how much of a field these amounts need, rounded up."""
    return max(-(-amounts[key] // field.unit) for key in field.keys)


def _pod_security(team: Team, workloads: Sequence[TeamWorkload]) -> Iterator[Problem]:
    declared, bearable = team.pod_security, level_of(workloads)
    if declared is None or LEVELS.index(declared) <= LEVELS.index(bearable):
        return
    yield Problem("podSecurity", declared, reason(workloads), f"Set podSecurity to {bearable}, or leave it out.")


def _names(name: str, team: Team, workloads: Sequence[TeamWorkload]) -> Iterator[Problem]:
    """Judge objects of the team and of what runs for it that would be one: same kind, same name."""
    accounts = team.service_accounts
    for index, account in enumerate(accounts):
        if account == "default" or account in accounts[:index]:
            allowed = "names of accounts other than default, each once: every namespace has that one"
            yield Problem(f"serviceAccounts[{index}]", account, allowed, "Remove it.")
    own = {(one["kind"], one["metadata"]["name"]): key for key, one in team_objects(name, team).items()}
    for workload in workloads:
        for manifest in workload.manifests:
            kind, other = manifest["kind"], manifest["metadata"]["name"]
            if (kind, other) not in own:
                continue
            is_account = kind == "ServiceAccount"
            yield Problem(
                f"serviceAccounts[{accounts.index(other)}]" if is_account else "",
                f"a {kind} {other}",
                f"objects of its own: {workload.path} makes one of that name",
                "Remove it." if is_account else f"Rename {workload.path}.",
            )


def _unreachable(name: str, team: Team, workloads: Sequence[TeamWorkload]) -> Iterator[Problem]:
    """Judge workloads without a policy in a closed namespace: not even their own pods would reach one another."""
    for workload in workloads if team.network else ():
        if not workload.is_reachable:
            yield Problem(
                f"{workload.path}.network",
                "null",
                f"who may reach it: the namespace of {name} is closed, also between its own pods",
                f"Remove it, or set teams.{name}.network to null.",
            )
