"""Hard split into templates, or soft split by hami-core. Rules ASC-7, ASC-41."""

from collections.abc import Mapping

MODE = "huawei.com/vnpu-mode"
SOFT = "hami-core"
NODE_SUPPORT = "hami-vnpu-core"


def is_soft(pod_annotations: Mapping[str, str]) -> bool:
    """Say whether a pod asks for soft split; any other text, in any other case, is hard split (ASC-7)."""
    return pod_annotations.get(MODE) == SOFT


def is_supported(node_annotations: Mapping[str, str], *, default: bool) -> bool:
    """Say whether a node supports soft split: its own word counts before the section's (ASC-41)."""
    own = node_annotations.get(NODE_SUPPORT)
    return default if own is None else own == "true"
