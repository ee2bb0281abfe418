"""What this library makes holds to all of its rules, warnings included."""

import pytest

from lab.examples import Variant, variants
from pulumi_lws.rules.judging import registered
from pulumi_lws.rules.levels import Preset
from tests.policies.pack_run import Registered, run_pack, sent


@pytest.mark.parametrize("variant", tuple(variants()), ids=lambda variant: variant.name)
def test_an_example_gets_not_one_violation(variant: Variant) -> None:
    made = [
        Registered(registered(manifest).type, f"{number}-{manifest['kind']}", sent(manifest))
        for number, manifest in enumerate(variant.objects())
    ]
    assert run_pack(*made, preset=Preset.STRICT) == []
