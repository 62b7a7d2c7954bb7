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


LISTS = {  # ids wanted and not wanted, models wanted and not wanted; others read none, kunlun its own (KL-6)
    "NVIDIA": "nvidia.com/use-gpuuuid nvidia.com/nouse-gpuuuid "
    "nvidia.com/use-gputype nvidia.com/nouse-gputype",
    "AMD": "amd.com/use-gpu-uuid amd.com/nouse-gpu-uuid amd.com/use-gputype amd.com/nouse-gputype",
    "DCU": "hygon.com/use-gpuuuid hygon.com/nouse-gpuuuid hygon.com/use-dcutype hygon.com/nouse-dcutype",
    "MLU": "cambricon.com/use-gpuuuid cambricon.com/nouse-gpuuuid",
    "Enflame": "enflame.com/use-gpuuuid enflame.com/nouse-gpuuuid",
    "Mthreads": "mthreads.ai/use-gpuuuid mthreads.ai/nouse-gpuuuid",
    "Metax-SGPU": "metax-tech.com/use-gpuuuid metax-tech.com/nouse-gpuuuid",
    "AWSNeuron": "aws.amazon.com/use-neuron-uuid aws.amazon.com/nouse-neuron-uuid",
    "Vastai": "vastaitech.com/use-gpuuuid vastaitech.com/nouse-gpuuuid",
    "Biren": "birentech.com/use-gpuuuid birentech.com/nouse-gpuuuid",
    **{
        word: f"hami.io/use-{word}-uuid hami.io/no-use-{word}-uuid"
        for word in (*(f"Ascend{chip}" for chip in ASCEND), *ILUVATAR)
    },
}


@pytest.mark.parametrize("key", sorted(TABLE))
def test_lists_of_ids_and_models_have_each_vendor_s_own_names(key: str) -> None:
    """P-15, P-16, VC-6, MLU-39, DCU-40, DCU-41, ILU-33, ASC-7: of models only three kinds read a list."""
    (backend,) = (backend for backend in SHIPPED.order if backend.vendor_key == key)
    keys = backend.keys
    found = (keys.use_uuid, keys.nouse_uuid, keys.use_type, keys.nouse_type)
    assert " ".join(filter(None, found)) == LISTS.get(key, "")


def test_only_cambricons_lock_names_no_owner() -> None:
    """MLU-30 and P-11: every other lock's value names its pod."""
    anonymous = {b.vendor_key for b in SHIPPED.order if b.node_lock is not None and not b.node_lock.has_owner}
    assert anonymous == {"MLU"}
