"""Values as the engine writes them, made plain: what is not known yet, and what is secret."""

from collections.abc import Mapping
from typing import Any, Final

from pulumi_lws.rules.values import UNKNOWN

SECRET: Final = "[secret]"  # noqa: S105 - what stands for one
"""What stands for a secret: in what ``pulumi preview --json`` prints, and here."""

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - Pulumi's mark of a secret, the same everywhere

_UNKNOWNS = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
"""What Pulumi writes for a value that the update makes, one for each type of value (``plugin.Unknown*Value``)."""

_SHORTEST_SECRET = 4


class Values:
    """Makes values plain, and remembers the secrets that stood among them to take them out of other texts."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()

    def plain(self, value: Any) -> Any:
        """Return a value with ``UNKNOWN`` and ``[secret]`` where it is unknown or secret, and 2 for 2.0."""
        match value:
            case Mapping() if value.get(_SIGNATURE) == _SECRET_SIGNATURE:
                self._remember({key: part for key, part in value.items() if key not in (_SIGNATURE, "ciphertext")})
                return SECRET
            case Mapping():
                return {str(key): self.plain(part) for key, part in value.items()}
            case list():
                return [self.plain(part) for part in value]
            case str() if value in _UNKNOWNS:
                return UNKNOWN
            case float() if value.is_integer():
                return int(value)
        return value

    def without_secrets(self, text: str) -> str:
        """Return a text without any secret that was seen: a message may repeat one."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, SECRET)
        return text

    def _remember(self, value: Any) -> None:
        """Keep the texts of a secret that was printed in the clear (``--show-secrets``)."""
        match value:
            case Mapping():
                for part in value.values():
                    self._remember(part)
            case list():
                for part in value:
                    self._remember(part)
            case str():
                # A secret value is JSON in its envelope; what it holds may be repeated without the quotes.
                for text in {value, value.strip('"')}:
                    if len(text) >= _SHORTEST_SECRET:
                        self._secrets.add(text)
