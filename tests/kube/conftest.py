from collections.abc import Iterator

import pytest

from tests.kube.locker import Locker, make_locker
from tests.kube.scripted_server import ScriptedServer
from tests.kube.tiny_api import TinyApi


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as scripted:
        yield scripted


@pytest.fixture
def api(server: ScriptedServer) -> TinyApi:
    """Return the store behind ``server``."""
    tiny = TinyApi()
    server.answer = tiny
    return tiny


@pytest.fixture
def locker(server: ScriptedServer, api: TinyApi) -> Locker:
    return make_locker(server, api)
