"""Who may see what: one answer for pages, REST and sockets (console.md 13)."""

from dataclasses import dataclass
from typing import Any, Final

from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from dashboard import conf

CACHE_SECONDS: Final = 60
CLUSTER_GROUP: Final = "cluster"
NAMESPACE_PREFIX: Final = "ns:"
CAPACITY_TOPICS: Final = frozenset({"fleet"})


@dataclass(frozen=True, slots=True)
class Sight:
    """What one person sees.

    Everything, or the pods of some namespaces, or (``has_capacity``) nodes without pods.
    """

    is_cluster: bool = False
    namespaces: frozenset[str] = frozenset()
    has_capacity: bool = False

    def sees(self, namespace: str) -> bool:
        return self.is_cluster or namespace in self.namespaces

    def allows(self, topic: str) -> bool:
        """Say whether a socket may carry this topic."""
        if self.is_cluster:
            return True
        if topic.startswith(NAMESPACE_PREFIX):
            return topic.removeprefix(NAMESPACE_PREFIX) in self.namespaces
        return self.has_capacity and topic in CAPACITY_TOPICS


EVERYTHING: Final = Sight(is_cluster=True, has_capacity=True)


def sight_of(user: Any) -> Sight:
    """Return what ``user`` sees.

    Staff and the group "cluster" see all; a group "ns:<name>" gives one namespace.

    May query the database, at most once in ``CACHE_SECONDS`` a person.
    """
    if not user.is_authenticated:
        return EVERYTHING if conf.is_open() else Sight()
    if user.is_staff or user.is_superuser:
        return EVERYTHING
    key = f"sight:{user.pk}"
    if (names := cache.get(key)) is None:
        names = list(user.groups.values_list("name", flat=True))
        cache.set(key, names, CACHE_SECONDS)
    return _from_groups(names)


def _from_groups(names: list[str]) -> Sight:
    if CLUSTER_GROUP in names:
        return EVERYTHING
    spaces = (name.removeprefix(NAMESPACE_PREFIX) for name in names if name.startswith(NAMESPACE_PREFIX))
    return Sight(namespaces=frozenset(spaces), has_capacity=conf.has_open_capacity())


def may_enter(user: Any) -> bool:
    return bool(user.is_authenticated and user.is_active) or conf.is_open()


def require_cluster(request: HttpRequest) -> None:
    """Raise PermissionDenied for who does not see the whole cluster."""
    if not sight_of(request.user).is_cluster:
        raise PermissionDenied


class MayLook(BasePermission):
    """REST: whoever may enter the console."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return may_enter(request.user)


class SeesCluster(MayLook):
    """REST: whoever sees the whole cluster."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return super().has_permission(request, view) and sight_of(request.user).is_cluster
