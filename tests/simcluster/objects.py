"""Objects for tests, every part defaulted."""

from typing import Any

Json = dict[str, Any]


def make_pod(name: str = "trainer", *, limits: Json | None = None, **meta: Any) -> Json:
    return {
        "metadata": {"name": name, **meta},
        "spec": {
            "containers": [
                {"name": "main", "image": "job:1", "resources": {"limits": limits} if limits else {}}
            ]
        },
    }


def gpu_pod(name: str = "trainer", *, gpus: int = 1, mem_mib: int = 1000, **meta: Any) -> Json:
    return make_pod(name, limits={"nvidia.com/gpu": gpus, "nvidia.com/gpumem": mem_mib}, **meta)
