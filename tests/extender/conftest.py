from collections.abc import Iterator

import pytest

from tests.extender.door import Door, gpu_node


@pytest.fixture
def door() -> Iterator[Door]:
    """Yield the door of a synced leader with two nodes of one card."""
    door = Door(bind_wait=0.0, scheduler_name="hami-scheduler")
    for name, card in (("n1", "a"), ("n2", "b")):
        door.register(gpu_node(name, card))
    yield door
    door.close()
