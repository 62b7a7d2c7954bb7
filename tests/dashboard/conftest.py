"""A console with a picture in it, and people who look at it."""

import time
from collections.abc import Iterator

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.test import Client
from django.utils import translation

from dashboard.live.consumer import LiveConsumer
from dashboard.live.hub import Hub, hub
from tests.dashboard.clusters import Cluster


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def empty_hub() -> None:
    """Give the process's hub a new life: no picture, no browsers."""
    hub.__dict__.update(Hub(source=lambda: None).__dict__)
    LiveConsumer._people.clear()


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    empty_hub()
    cache.clear()
    translation.deactivate()  # a page in Chinese leaves its language behind in this thread
    yield
    empty_hub()


@pytest.fixture
def cluster() -> Cluster:
    """Publish a made-up cluster of sixty nodes."""
    made_up = Cluster(now_ms=now_ms())
    hub.source = made_up.whole
    hub.receive(made_up.whole())
    return made_up


def sign_in(name: str, *groups: str, is_staff: bool = False) -> Client:
    user = get_user_model().objects.create_user(name, password="s3cret-s3cret", is_staff=is_staff)  # noqa: S106
    for group in groups:
        user.groups.add(Group.objects.get_or_create(name=group)[0])
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def alice(db: None) -> Client:
    """Sign in Alice, who sees the whole cluster."""
    return sign_in("alice", "cluster")


@pytest.fixture
def bob(db: None) -> Client:
    """Sign in Bob, who sees the namespace vision."""
    return sign_in("bob", "ns:vision")


@pytest.fixture
def charlie(db: None) -> Client:
    """Sign in Charlie, who sees nothing."""
    return sign_in("charlie")
