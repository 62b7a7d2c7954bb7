"""Paths of the API server's resources, with every name quoted: names may come from a request."""

from urllib.parse import quote

PODS = "/api/v1/pods"
NODES = "/api/v1/nodes"
QUOTAS = "/api/v1/resourcequotas"


def pod(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{_quoted(namespace)}/pods/{_quoted(name)}"


def binding(namespace: str, name: str) -> str:
    return f"{pod(namespace, name)}/binding"


def node(name: str) -> str:
    return f"{NODES}/{_quoted(name)}"


def events(namespace: str) -> str:
    return f"/api/v1/namespaces/{_quoted(namespace)}/events"


def event(namespace: str, name: str) -> str:
    return f"{events(namespace)}/{_quoted(name)}"


def leases(namespace: str) -> str:
    return f"/apis/coordination.k8s.io/v1/namespaces/{_quoted(namespace)}/leases"


def _quoted(name: str) -> str:
    return quote(name, safe="")
