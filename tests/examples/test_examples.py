"""The examples pass every check, and what they consist of is reviewed."""

from pathlib import Path
from typing import Any

import pytest

from lab.examples import EXAMPLES, Variant, settings_of, variants
from pulumi_lws.planning.problems import Severity
from pulumi_lws.platform.checks import read

VARIANTS = tuple(variants())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_no_problem(example: Path) -> None:
    assert read(settings_of(example))[1] == []


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_of_an_example_has_no_error(variant: Variant) -> None:
    errors = [problem for problem in read(variant.settings)[1] if problem.severity is not Severity.WARNING]
    assert [str(problem) for problem in errors] == []


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_the_objects_of_an_example_are_as_reviewed(variant: Variant, golden: Any) -> None:
    objects = []
    for manifest in variant.objects():
        is_probe = "two_phase_probe.py" in manifest.get("data", {})
        # The program is reviewed as the file that it is.
        objects.append(manifest | {"data": dict.fromkeys(manifest["data"], "...")} if is_probe else manifest)
    golden.compare(f"examples/{variant.name}", objects)
