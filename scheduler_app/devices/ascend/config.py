"""Section ``vnpus`` of the device configuration, and the sizes it describes. Rules ASC-2 to ASC-5, ASC-14."""

from dataclasses import dataclass, field

INT64 = {"bits": 64}
PAIRED = "Ascend910C"  # two dies to a module (ASC-22, ASC-47)


@dataclass(frozen=True, slots=True)
class Template:
    """A size into which the driver splits a chip (hard split). ``memory`` is MiB; AI counts are unused."""

    name: str = ""
    memory: int = field(default=0, metadata=INT64)
    ai_core: int = 0
    ai_cpu: int = field(default=0, metadata={"key": "aiCPU"})


@dataclass(frozen=True, slots=True)
class Chip:
    """One element of ``vnpus.configs``.

    ``memory_allocatable`` is charged for a whole card, ``memory_capacity`` is the most to be asked for, in
    MiB; ``memory_factor`` above 1 multiplies what a container wrote. ``resource_core_name`` may be empty: no
    cores then. ``super_pod`` rounds a request for one 910C to the pair it is built of.
    """

    common_word: str = ""
    chip_name: str = ""
    resource_name: str = ""
    resource_memory_name: str = ""
    resource_core_name: str = ""
    memory_allocatable: int = field(default=0, metadata=INT64)
    memory_capacity: int = field(default=0, metadata=INT64)
    memory_factor: int = 0
    ai_core: int = 0
    ai_cpu: int = field(default=0, metadata={"key": "aiCPU"})
    runtime_class_name: str = ""
    overwrite_env: bool = False
    super_pod: bool = False
    templates: tuple[Template, ...] = ()

    def template_for(self, mem_mib: int) -> Template:
        """Return the smallest template that holds ``mem_mib``, zero and negative amounts included (ASC-14).

        What no template holds is a whole card, a template without a name; what no card holds has memory 0.
        """
        for template in sorted(self.templates, key=lambda template: template.memory):
            if mem_mib <= template.memory:
                return template
        return Template(memory=self.memory_allocatable if mem_mib <= self.memory_capacity else 0)


@dataclass(frozen=True, slots=True)
class Config:
    """The section: ``hami_vnpu_core`` says that nodes support soft split unless they deny it (ASC-41)."""

    hami_vnpu_core: bool = False
    configs: tuple[Chip, ...] = ()
