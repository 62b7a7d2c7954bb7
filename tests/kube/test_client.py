import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from kubernetes.client import ApiClient, Configuration

from scheduler_app.kube.client import KubeClient
from scheduler_app.kube.errors import (
    ApiError,
    ConflictError,
    ConnectionBrokenError,
    ForbiddenError,
    GoneError,
    NotFoundError,
    StreamSilentError,
    ThrottledError,
    UnauthorizedError,
)
from scheduler_app.kube.throttle import Throttle
from tests.kube.scripted_server import (
    Reply,
    Request,
    ScriptedServer,
    answering,
    failing,
    silent,
    unused_url,
)


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, ApiError, False),
        (401, UnauthorizedError, False),
        (403, ForbiddenError, False),
        (404, NotFoundError, False),
        (409, ConflictError, False),
        (410, GoneError, False),
        (429, ThrottledError, True),
        (500, ApiError, True),
    ],
)
def test_an_error_has_the_servers_own_words(
    server: ScriptedServer, status: int, kind: type[ApiError], retryable: bool
) -> None:
    """B-10: errors are returned as they are."""
    server.answer = lambda request: failing(status, 'nodes "x" not found')
    with pytest.raises(ApiError) as caught:
        server.client().get("/api/v1/nodes/x")
    assert type(caught.value) is kind
    assert str(caught.value) == 'nodes "x" not found'
    assert (caught.value.status, caught.value.retryable) == (status, retryable)


def test_a_body_that_is_no_status_is_cut(server: ScriptedServer) -> None:
    page = b"<html>" + b"x" * 5000
    server.answer = lambda request: Reply(502, [page], content_type="text/html")
    with pytest.raises(ApiError) as caught:
        server.client().get("/")
    assert str(caught.value).startswith("502 <html>")
    assert len(str(caught.value)) <= 260


def test_nobody_listening_is_an_error_that_may_be_retried() -> None:
    client = KubeClient(ApiClient(Configuration(host=unused_url())))
    with pytest.raises(ConnectionBrokenError) as caught:
        client.get("/api/v1/nodes")
    assert caught.value.retryable


@pytest.mark.parametrize(
    "reply",
    [
        Reply(pieces=[b'{"a":'], announced=100, cut=True),
        Reply(pieces=[b'{"a":'], cut=True),
    ],
    ids=["announced", "chunked"],
)
def test_an_answer_that_ends_too_soon_is_an_error(server: ScriptedServer, reply: Reply) -> None:
    server.answer = lambda request: reply
    with pytest.raises(ConnectionBrokenError):
        server.client().get("/")


def test_a_silent_server_is_not_waited_for_for_ever(server: ScriptedServer) -> None:
    """I03."""
    server.answer = lambda request: Reply(pieces=[b"{", server.closing])
    with pytest.raises(StreamSilentError):
        server.client(read_seconds=0.05).get("/")


def test_a_reader_is_ended_by_another_thread(server: ScriptedServer) -> None:
    """K3.6-2."""
    server.answer = lambda request: silent(server.closing)
    stream = server.client().stream("/", query={}, read_seconds=30)
    started = threading.Event()
    broken: list[bool] = []

    def read() -> None:
        started.set()
        try:
            broken.append(stream.read() == b"")
        except ConnectionBrokenError:
            broken.append(True)

    reader = threading.Thread(target=read)
    reader.start()
    started.wait(5)
    stream.interrupt()
    reader.join(5)
    assert broken == [True]
    stream.interrupt()  # harmless when it has ended


def test_sixty_four_calls_go_on_at_once(server: ScriptedServer) -> None:
    """One client for all; nobody waits for a free connection (I17)."""
    together = threading.Barrier(64)

    def answer(request: Request) -> Reply:
        together.wait(10)
        return answering({})

    server.answer = answer
    client = server.client()
    with ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(lambda _: client.get("/"), range(64)))
        answers += pool.map(lambda _: client.get("/"), range(64))
    assert answers == [b"{}"] * 128
    assert server.connections == 64  # all of them were kept for the second round


def test_connections_are_used_again(server: ScriptedServer) -> None:
    """A new TLS connection for each call would cost more than the call."""
    server.answer = lambda request: answering({})
    client = server.client()
    for _ in range(5):
        client.get("/")
    assert server.connections == 1


def test_a_write_is_never_sent_twice_by_itself(server: ScriptedServer) -> None:
    """I19: above all no Binding."""
    server.answer = lambda request: failing(503, "try later", headers={"Retry-After": "1"})
    with pytest.raises(ApiError, match="try later"):
        server.client().send("POST", path="/binding", body=b"{}")
    assert len(server.requests) == 1


def test_a_redirect_is_not_followed(server: ScriptedServer) -> None:
    server.answer = lambda request: Reply(302, headers={"Location": "/elsewhere"}, announced=0)
    with pytest.raises(ApiError, match="302"):
        server.client().get("/")
    assert [request.path for request in server.requests] == ["/"]


def hang_up_once(connections: list[socket.socket]) -> Callable[[socket.socket], None]:
    def serve(listener: socket.socket) -> None:
        for number in range(2):
            connection, _ = listener.accept()
            connections.append(connection)
            connection.recv(65536)
            if number:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            connection.close()

    return serve


@pytest.mark.parametrize(("method", "asked"), [("GET", 2), ("POST", 1)])
def test_a_connection_that_is_gone_is_replaced_for_what_may_be_repeated(method: str, asked: int) -> None:
    connections: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=hang_up_once(connections), args=(listener,), daemon=True)
        thread.start()
        host = f"http://127.0.0.1:{listener.getsockname()[1]}"
        client = KubeClient(ApiClient(Configuration(host=host)))
        if method == "GET":
            assert client.get("/") == b"{}"
        else:
            with pytest.raises(ConnectionBrokenError):
                client.send("POST", path="/", body=b"{}")
        assert len(connections) == asked
        if asked == 1:  # let the server's thread end
            socket.create_connection(listener.getsockname()).close()
        thread.join(5)


def test_credentials_are_sent_and_read_afresh_when_refused(server: ScriptedServer) -> None:
    """I20, I21: on 401 once more with fresh credentials, and only then."""

    def api(token: str) -> ApiClient:
        return ApiClient(Configuration(host=server.url, api_key={"BearerToken": f"Bearer {token}"}))

    server.answer = lambda request: (
        answering({}) if request.headers["authorization"] == "Bearer new" else failing(401, "Unauthorized")
    )
    client = KubeClient(api("old"), renew=lambda: api("new"))
    assert client.get("/") == b"{}"
    assert client.get("/") == b"{}"
    assert [request.headers["authorization"] for request in server.requests] == [
        "Bearer old",
        "Bearer new",
        "Bearer new",
    ]


def test_credentials_that_stay_bad_are_not_read_in_a_hot_loop(server: ScriptedServer) -> None:
    server.answer = lambda request: failing(401, "Unauthorized")
    made: list[int] = []

    def renew() -> ApiClient:
        made.append(1)
        return ApiClient(Configuration(host=server.url))

    client = KubeClient(ApiClient(Configuration(host=server.url)), renew=renew)
    for _ in range(3):
        with pytest.raises(UnauthorizedError):
            client.get("/")
    assert len(made) == 1


def test_only_writes_of_the_throttled_client_wait(server: ScriptedServer) -> None:
    waits: list[float] = []
    server.answer = lambda request: answering({})
    client = server.client()
    throttle = Throttle(qps=1, burst=1, clock=lambda: 0.0, wait=waits.append)
    background = client.throttled(throttle)
    for _ in range(3):
        client.send("POST", path="/", body=b"{}")
        background.get("/")
    assert waits == []
    background.send("POST", path="/", body=b"{}")
    background.send("POST", path="/", body=b"{}")
    assert waits == [1.0]
