"""Numbers of things in words."""


def counted(number: int, thing: str, things: str = "") -> str:
    """Say how many there are of a thing."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {things or thing + 's'}"
