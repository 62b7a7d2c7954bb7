"""The only module of the console that reads Django settings."""

from django.conf import settings  # noqa: TID251  (this is the reader)


def is_open() -> bool:
    """Say whether one may look without signing in."""
    return bool(settings.CONSOLE_OPEN)


def has_open_capacity() -> bool:
    """Say whether everybody signed in sees nodes and GPUs, without the pods on them."""
    return bool(settings.OPEN_CAPACITY)


def cluster_name() -> str:
    return str(settings.CLUSTER_NAME)


def allowed_hosts() -> list[str]:
    return list(settings.ALLOWED_HOSTS)
