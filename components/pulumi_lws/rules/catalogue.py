"""Every rule there is. The policy pack, the documentation and the tests take their rules from here."""

from pulumi_lws.rules.exclusive_topology import EXCLUSIVE_TOPOLOGY
from pulumi_lws.rules.leader_ready import LEADER_READY
from pulumi_lws.rules.rule import Rule
from pulumi_lws.rules.server_side_apply import SERVER_SIDE_APPLY

RULES: tuple[Rule, ...] = (SERVER_SIDE_APPLY, LEADER_READY, EXCLUSIVE_TOPOLOGY)
"""The rules, in the order in which reports and docs list them."""
