"""The kubeconfig text a client of the embedded cluster needs."""

import yaml

from simcluster.objects import Json

_NAME = "simcluster"


def text(url: str, *, token: str = "") -> str:
    """Return a kubeconfig for the API server at url; token empty means no credentials."""
    user: Json = {"token": token} if token else {}
    document: Json = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": _NAME, "cluster": {"server": url}}],
        "users": [{"name": _NAME, "user": user}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": _NAME, "namespace": "default"}}],
        "current-context": _NAME,
    }
    rendered: str = yaml.safe_dump(document, sort_keys=False)
    return rendered
