"""The extender's door with one node of one card; binds wait their turn."""

from collections.abc import Iterator

import pytest

from tests.extender.door import Door, gpu_node


@pytest.fixture
def door() -> Iterator[Door]:
    door = Door(bind_wait=30.0)
    door.register(gpu_node("n1", "a"))
    yield door
    door.parts.turns.stop()
    door.close()
