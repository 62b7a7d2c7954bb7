"""Reviews that are not plain JSON: halves of characters, and the YAML that the reference takes too (W-1)."""

from typing import Any

import orjson
import yaml

from scheduler_app.core import codec
from scheduler_app.core.errors import CodecError, HamiError

YAML_LIMIT_BYTES = 64 * 1024  # it is slow to read
ERROR_CHARACTERS = 200


class UnreadableError(HamiError):
    """It is neither JSON nor YAML that could have been JSON."""


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases: a kilobyte of them can stand for gigabytes, or for itself."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def decoded(body: bytes) -> Any:
    """Read JSON, else short YAML as the JSON it stands for.

    Raises:
        UnreadableError: it is neither.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as exc:
        return _leniently(body, exc)


def _leniently(body: bytes, why: ValueError) -> Any:
    try:
        return codec.load_json(body.decode())
    except (CodecError, UnicodeDecodeError):
        if len(body) > YAML_LIMIT_BYTES:
            raise UnreadableError(_cut(why)) from why
    try:
        found = yaml.load(body, Loader=_PlainLoader)  # noqa: S506  (a safe loader)
        return orjson.loads(orjson.dumps(found, option=orjson.OPT_NON_STR_KEYS))
    except Exception as exc:  # the loader raises whatever its constructors do: KeyError, AttributeError …
        raise UnreadableError(_cut(exc)) from exc


def _cut(why: Exception) -> str:
    return str(why)[:ERROR_CHARACTERS]
