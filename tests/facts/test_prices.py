from pulumi_lws.facts.instances import INSTANCE_TYPES
from pulumi_lws.facts.prices import PRICES


def test_every_instance_type_has_a_price_or_a_reason() -> None:
    # The source lists no on-demand price of it.
    assert set(INSTANCE_TYPES) - set(PRICES) == {"p5e.48xlarge"}


def test_every_price_has_a_day_and_a_source() -> None:
    assert [name for name, price in PRICES.items() if not (price.checked and price.source)] == []
