"""URL paths to resources: which object or collection is meant, and what the method does to it."""

from dataclasses import dataclass

from simcluster import errors, resources
from simcluster.objects import join_key
from simcluster.resources import Resource


@dataclass(frozen=True, slots=True)
class Route:
    """A collection (name empty), an object, or one of its subresources."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> str:
        return join_key(self.namespace, self.name)

    @property
    def label(self) -> str:
        """``pods`` or ``pods/binding``: the name faults go by."""
        return self.resource.plural + (f"/{self.subresource}" if self.subresource else "")

    def verb(self, method: str, *, watch: bool) -> str:
        """Return the Kubernetes verb of an HTTP method here; StatusError 405 when there is none."""
        match method, bool(self.name):
            case "GET", True:
                return "get"
            case "GET", False:
                return "watch" if watch else "list"
            case "POST", _:
                return "create"
            case "PUT", True:
                return "update"
            case "PATCH", True:
                return "patch"
            case "DELETE", named:
                return "delete" if named else "deletecollection"
        message = "the server does not allow this method on the requested resource"
        raise errors.StatusError(405, "MethodNotAllowed", message)


def parse(parts: list[str]) -> Route | None:
    """Return the route of ``/api/v1/…`` and ``/apis/<group>/<version>/…``, None for other paths.

    StatusError 404 for a resource that is not served.
    """
    match parts:
        case ["api", version, *rest] if rest:
            group = ""
        case ["apis", group, version, *rest] if rest:
            pass
        case _:
            return None
    if rest[0] == "watch" and len(rest) > 1:
        rest = rest[1:]
    return _route(group, version, rest)


def _route(group: str, version: str, rest: list[str]) -> Route:
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in {"status", "finalize"}:
        namespace, rest = rest[1], rest[2:]
    if rest == ["bindings"] and namespace:
        return Route(resources.by_path("", "v1", "pods"), namespace, "", "binding")
    plural, name, subresource = (*rest, "", "")[:3]
    resource = resources.by_path(group, version, plural)
    if len(rest) > 3 or (subresource and subresource not in resource.subresources):
        raise errors.no_such_path()
    if name and resource.namespaced and not namespace:
        raise errors.no_such_path()
    return Route(resource, namespace, name, subresource)
