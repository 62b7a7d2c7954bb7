"""What the API server answers when it refuses: a ``Status``, in the words of Kubernetes (K4.5-10)."""

from simcluster.objects import Json

_CHANGED = "the object has been modified; please apply your changes to the latest version and try again"


class StatusError(Exception):
    """A refusal with its HTTP status code, machine-readable reason and sentence."""

    def __init__(self, code: int, reason: str, message: str, *, details: Json | None = None) -> None:
        super().__init__(message)
        self.code, self.reason, self.message, self.details = code, reason, message, details

    def body(self) -> Json:
        """Return the ``Status`` object for the wire."""
        body: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        body |= {"message": self.message, "reason": self.reason, "code": self.code}
        if self.details:
            body["details"] = self.details
        return body


def success(*, name: str = "", kind: str = "", uid: str = "") -> Json:
    """Return the ``Status`` that a deletion or a binding is answered with."""
    body: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if name:
        body["details"] = {"name": name, "kind": kind, "uid": uid}
    return body


def not_found(resource: str, name: str) -> StatusError:
    """Resource is the qualified plural, ``pods`` or ``leases.coordination.k8s.io``."""
    details = _details(resource, name)
    return StatusError(404, "NotFound", f'{resource} "{name}" not found', details=details)


def no_such_path() -> StatusError:
    return StatusError(404, "NotFound", "the server could not find the requested resource", details={})


def already_exists(resource: str, name: str) -> StatusError:
    details = _details(resource, name)
    return StatusError(409, "AlreadyExists", f'{resource} "{name}" already exists', details=details)


def conflict(resource: str, name: str, message: str = _CHANGED) -> StatusError:
    text = f'Operation cannot be fulfilled on {resource} "{name}": {message}'
    return StatusError(409, "Conflict", text, details=_details(resource, name))


def invalid(kind: str, name: str, causes: list[Json]) -> StatusError:
    """Each cause is ``{"reason", "message", "field"}``; the sentence joins them as Kubernetes does."""
    clauses = [f"{cause['field']}: {cause['message']}" for cause in causes]
    text = clauses[0] if len(clauses) == 1 else "[" + ", ".join(clauses) + "]"
    details: Json = {"name": name, "kind": kind, "causes": causes}
    return StatusError(422, "Invalid", f'{kind} "{name}" is invalid: {text}', details=details)


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def forbidden(resource: str, name: str, message: str) -> StatusError:
    text = f'{resource} "{name}" is forbidden: {message}'
    return StatusError(403, "Forbidden", text, details=_details(resource, name))


def expired(message: str) -> StatusError:
    return StatusError(410, "Expired", message)


def too_large_version(asked: int, current: int) -> StatusError:
    message = f"Too large resource version: {asked}, current: {current}"
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    details: Json = {"causes": causes, "retryAfterSeconds": 1}
    return StatusError(504, "Timeout", f"Timeout: {message}", details=details)


def internal(message: str) -> StatusError:
    return StatusError(500, "InternalError", f"Internal error occurred: {message}")


def _details(resource: str, name: str) -> Json:
    plural, _, group = resource.partition(".")
    return {"name": name, "kind": plural} | ({"group": group} if group else {})
