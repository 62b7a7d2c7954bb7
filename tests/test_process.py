"""The process as a whole: it starts, serves, drains and ends when it is told to."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scheduler_app import bootstrap, conf, process, vendortable
from simcluster.cluster import Cluster, Settings
from tests.e2e_inprocess.product import free_port, gpu_pod
from tests.extender.door import CONFIG
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent


class Running:
    """``manage.py runscheduler`` in a process of its own, on an embedded cluster in this one."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.port, self.console, self.metrics = free_port(), free_port(), free_port()
        self.log = folder / "log"
        environment = {
            **os.environ,
            "KUBE_API": cluster.url,
            "DB_NAME": str(folder / "history.sqlite3"),
            "SECRET_KEY": "of-this-test",
            "HISTORY_DAYS": "1",
        }
        command = [
            sys.executable, str(ROOT / "manage.py"), "runscheduler",
            f"--http_bind=127.0.0.1:{self.port}", f"--console-bind=127.0.0.1:{self.console}",
            f"--metrics-bind-address=127.0.0.1:{self.metrics}",
            f"--device-config-file={vendortable.CONFIG}", "--scheduler-name=hami-scheduler",
            "--debug", "-v=4",
        ]  # fmt: skip
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)

    def request(self, method: str, path: str, body: Any = None, *, port: int = 0) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=20)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError:
            return 0, ""
        finally:
            connection.close()

    def end(self) -> float:
        """Send SIGTERM and return the seconds until it has ended."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        return time.monotonic() - started

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(20)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(Settings(fleet="nvidia:2x2", workload=False, pod_seconds=None)) as running:
        yield running


@pytest.fixture
def running(cluster: Cluster, tmp_path: Path) -> Iterator[Running]:
    running = Running(cluster, tmp_path)
    wait_until(lambda: running.request("GET", "/readyz")[0] == 200, seconds=30)
    yield running
    running.kill()
    cluster.faults.clear()


def test_sigterm_ends_it_in_time_and_requests_in_flight_are_answered(
    running: Running, cluster: Cluster
) -> None:
    """The patch of a decision is slow; the answer still comes, and the process ends with success."""
    wait_until(lambda: running.request("GET", "/", port=running.console)[0] in (200, 302), seconds=30)
    assert running.request("GET", "/metrics", port=running.metrics)[0] == 200
    created = cluster.api.create("pods", gpu_pod())
    nodes = [node["metadata"]["name"] for node in cluster.api.list("nodes")]
    cluster.faults.delay(1.0, verb="patch", resource="pods")
    answers: list[tuple[int, str]] = []
    body = {"Pod": created, "NodeNames": nodes}
    caller = threading.Thread(target=lambda: answers.append(running.request("POST", "/filter", body)))
    caller.start()
    wait_until(
        lambda: "vgpu-node" in str(cluster.api.list("pods")) or not caller.is_alive() or is_busy(running)
    )
    assert running.end() < 5
    caller.join(20)
    assert running.process.returncode == 0, running.log.read_text("utf-8")[-2000:]
    assert answers[0][0] == 200
    assert json.loads(answers[0][1])["Error"] == ""
    log = running.log.read_text("utf-8")
    assert 'FLAG: --scheduler-name="hami-scheduler"' in log
    assert "thread died" not in log
    assert "thread did not end" not in log


def is_busy(running: Running) -> bool:
    """Say whether a reservation is counted already: the decision waits for its patch."""
    text = running.request("GET", "/metrics", port=running.metrics)[1]
    return "hami_scheduler_pods_counted 1.0" in text


def test_a_wrong_configuration_ends_it_with_a_message_and_no_traceback(tmp_path: Path) -> None:
    """CFG-6."""
    config = tmp_path / "config.yaml"
    config.write_text("nvidia:\n  defaultMemory: lots\n", encoding="utf-8")
    found = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "runscheduler", f"--device-config-file={config}"],
        env={
            **os.environ,
            "KUBE_API": "http://127.0.0.1:9",
            "DB_NAME": str(tmp_path / "db"),
            "SECRET_KEY": "x",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.returncode == 1
    assert "line 2: nvidia.defaultMemory: expected a whole number" in found.stderr
    assert "Traceback" not in found.stderr


def test_whoever_calls_the_doors_is_told_of_the_end_while_they_still_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The demo's workload stops there: its pods would be admitted by nobody."""
    port, answers = free_port(), []
    conf.set_flags(
        KUBE_API="http://127.0.0.1:9",
        DEVICE_CONFIG_TEXT=CONFIG,
        http_bind=f"127.0.0.1:{port}",
        metrics_bind_address="",
    )
    monkeypatch.setattr(process, "TABLE", ())
    monkeypatch.setattr(process, "serve_console", lambda *_, **__: wait_until(lambda: is_open(port)))
    try:
        process.run(ending=lambda: answers.append(is_open(port)))
    finally:
        bootstrap.install(None)
        conf.clear_flags()
    assert answers == [True]
    assert not is_open(port)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
