"""Our verdicts are those that real API servers with LWS's webhooks gave."""

import pytest

from lab import verdicts
from lab.verdicts import POPULATIONS, VERSIONS, Population


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("population", POPULATIONS, ids=lambda population: population.name)
def test_we_refuse_what_the_server_refused_and_nothing_else(population: Population, version: str) -> None:
    objects = population.objects()
    assert verdicts.as_record(objects, verdicts.ours(objects, version)) == verdicts.recorded(population.record(version))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("population", POPULATIONS, ids=lambda population: population.name)
def test_the_record_holds_a_good_part_of_both(population: Population, version: str) -> None:
    letters = "".join(verdicts.recorded(population.record(version))["refused or accepted"])
    assert len(letters) == population.count
    assert 0.2 < letters.count("r") / len(letters) < 0.8
