"""Rule: no template carries labels or annotations that LWS writes over."""

from collections.abc import Iterable

from pulumi_lws.facts import labels
from pulumi_lws.planning.problems import Problem, Severity
from pulumi_lws.rules.groups import HAS_GROUPS, Groups, about_groups
from pulumi_lws.rules.misleading_keys import reserved
from pulumi_lws.rules.rule import Context, Rule
from pulumi_lws.rules.values import UNKNOWN, unseen

_FIX = "Remove it, or rename it."


def _check(groups: Groups, _context: Context) -> Iterable[Problem]:
    for template in groups.templates():
        for path, key, effect in reserved(template):
            if key is UNKNOWN:
                yield unseen(path, "whether LWS writes over it")
            elif effect is None:
                yield Problem(path, "a key that LWS keeps for itself", "keys with a prefix of your own", _FIX)


RESERVED_KEYS = Rule(
    name="reserved-keys",
    title="Templates carry no label or annotation with the prefix of LWS.",
    why=f"LWS keeps {labels.LWS_PREFIX} for itself: it writes over such a key, or a later version may read it.",
    fix=_FIX,
    severity=Severity.WARNING,
    applies_to=HAS_GROUPS,
    check=about_groups(_check),
)
