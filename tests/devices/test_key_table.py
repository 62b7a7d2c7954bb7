"""The annotation keys and locks of every kind of card that the shipped configuration makes."""

import pytest

from scheduler_app.core.backend import DeviceBackend
from tests.devices.machines import SHIPPED

MUTEX, OWN = "hami.io/mutex.lock", "cambricon.com/dsmlu.lock"

# register, handshake, to allocate, allocated, lock; an empty one does not exist
FIXED = {
    "NVIDIA": (
        "hami.io/node-nvidia-register",
        "hami.io/node-handshake",
        "hami.io/vgpu-devices-to-allocate",
        "hami.io/vgpu-devices-allocated",
        MUTEX,
    ),
    "MLU": (
        "",
        "",
        "hami.io/cambricon-mlu-devices-to-allocate",
        "hami.io/cambricon-mlu-devices-allocated",
        OWN,
    ),
    "DCU": (
        "hami.io/node-dcu-register",
        "hami.io/node-handshake-dcu",
        "hami.io/dcu-devices-to-allocate",
        "hami.io/dcu-devices-allocated",
        MUTEX,
    ),
    "GCU": (
        "",
        "",
        "hami.io/enflame-gcu-devices-to-allocate",
        "hami.io/enflame-gcu-devices-allocated",
        "",
    ),
    "Enflame": ("enflame.com/gcu-drs-capacity", "", "", "hami.io/enflame-vgpu-devices-allocated", ""),
    "Mthreads": (
        "",
        "",
        "hami.io/mthreads-vgpu-devices-to-allocate",
        "hami.io/mthreads-vgpu-devices-allocated",
        "",
    ),
    "Metax-GPU": (
        "",
        "",
        "hami.io/metax-gpu-devices-to-allocate",
        "hami.io/metax-gpu-devices-allocated",
        "",
    ),
    "Metax-SGPU": (
        "metax-tech.com/node-gpu-devices",
        "",
        "hami.io/metax-sgpu-devices-to-allocate",
        "hami.io/metax-sgpu-devices-allocated",
        MUTEX,
    ),
    "kunlun": ("", "", "", "hami.io/kunlun-allocated", ""),
    "XPU": (
        "hami.io/node-register-xpu",
        "hami.io/node-handshake-xpu",
        "hami.io/xpu-devices-to-allocate",
        "hami.io/xpu-devices-allocated",
        MUTEX,
    ),
    "AWSNeuron": ("", "", "", "hami.io/aws-neuron-devices-allocated", ""),
    "AMD": (
        "hami.io/node-amd-register",
        "",
        "hami.io/amd-devices-to-allocate",
        "hami.io/amd-devices-allocated",
        MUTEX,
    ),
    "Vastai": (
        "hami.io/node-va-register",
        "hami.io/node-handshake-va",
        "hami.io/Vastai-devices-to-allocate",
        "hami.io/Vastai-devices-allocated",
        MUTEX,
    ),
    "Biren": (
        "hami.io/node-biren-register",
        "hami.io/node-handshake-biren",
        "hami.io/Biren-devices-to-allocate",
        "hami.io/Biren-devices-allocated",
        MUTEX,
    ),
}
ASCEND = ("910A", "910B2", "910B3", "910B4-1", "910B4", "310P", "910C")
ILUVATAR = ("MR-V100", "MR-V50", "BI-V150", "BI-V100")
TABLE = {
    **FIXED,
    **{f"Ascend{chip}": (f"hami.io/node-register-Ascend{chip}", f"Ascend{chip}") for chip in ASCEND},
    **{word: (f"hami.io/node-{word}-register", word) for word in ILUVATAR},
}


def written(backend: DeviceBackend) -> tuple[str, ...]:
    """Return the backend's row of the table."""
    keys, lock = backend.keys, backend.node_lock
    return (keys.register, keys.handshake, keys.to_allocate, keys.allocated, lock.annotation if lock else "")


def expected(key: str) -> tuple[str, ...]:
    row = TABLE[key]
    if len(row) > 2:
        return row
    register, word = row
    return (
        register,
        f"hami.io/node-handshake-{word}",
        f"hami.io/{word}-devices-to-allocate",
        f"hami.io/{word}-devices-allocated",
        MUTEX,
    )


def test_the_table_lists_every_kind_of_card() -> None:
    """P-3, VB-28."""
    assert set(TABLE) == {str(key) for key in SHIPPED.backends}


@pytest.mark.parametrize("key", sorted(TABLE))
def test_keys_and_lock_are_those_that_node_plugins_know(key: str) -> None:
    """P-1 to P-3, CFG-8, VB-24, VC-11; NV-5, ASC-6, ASC-36, DCU-30, DCU-31, ILU-4, ILU-30, ILU-31, MXS-18."""
    (backend,) = (backend for backend in SHIPPED.order if backend.vendor_key == key)
    assert written(backend) == expected(key)


def test_only_cambricons_lock_names_no_owner() -> None:
    """MLU-30 and P-11: every other lock's value names its pod."""
    anonymous = {b.vendor_key for b in SHIPPED.order if b.node_lock is not None and not b.node_lock.has_owner}
    assert anonymous == {"MLU"}
