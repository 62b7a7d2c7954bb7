"""Who may share a Metax card with whom: application classes and quality of service (MXS-8, MXS-9, MXS-11)."""

from scheduler_app.core.types import CardUsage, Pod
from scheduler_app.devices.metax.inventory import QOS

APP_CLASS = "metax-tech.com/sgpu-app-class"
QOS_POLICY = "metax-tech.com/sgpu-qos-policy"
ONLINE = "online"
OFFLINE = "offline"
CLASSES = (ONLINE, OFFLINE)
BEST_EFFORT = "best-effort"
QOS_POLICIES = (BEST_EFFORT, "fixed-share", "burst-share")
_WHOLE = 100


def app_class(pod: Pod) -> str:
    """Return ``online``, ``offline`` or empty: any other text is no class (MXS-8)."""
    text = pod.annotations.get(APP_CLASS, "")
    return text if text in CLASSES else ""


def is_online(pod: Pod) -> bool:
    """Say whether the pod takes no cores of its own and shares with its like only (MXS-7)."""
    return app_class(pod) == ONLINE


def class_fits(pod: Pod, card: CardUsage) -> bool:
    """Keep pods with a class on cards of their own, and offline ones away from online ones (MXS-8).

    Parity: the pod's own containers have no mark yet, so that a second one with a class is refused (MXS-17).
    """
    if card.shares_used == 0:
        return True
    wanted, has_online, has_offline = app_class(pod), ONLINE in card.marks, OFFLINE in card.marks
    if bool(wanted) != (has_online or has_offline):
        return False
    return not (wanted == OFFLINE and has_online)


def qos_fits(pod: Pod, card: CardUsage, *, cores: int) -> bool:
    """Compare the pod's policy with the card's: what is expected of it, else what is reported (MXS-9)."""
    if card.shares_used == 0 or cores == _WHOLE:
        return True
    policy = card.custom.get(QOS, "") if card.expected is None else card.expected
    return not policy or policy == pod.annotations.get(QOS_POLICY, "")


def qos_after(pod: Pod, *, cores: int) -> str:
    """Return the policy of a card that has this pod: none when it has all of the card (MXS-14, MXS-19)."""
    return "" if cores == _WHOLE else pod.annotations.get(QOS_POLICY, "")


def online_rank(card: CardUsage) -> tuple[bool, int, int]:
    """Sort key of an online pod's choice: few online pods, then few offline; only offline last (MXS-11)."""
    on, off = card.marks.count(ONLINE), card.marks.count(OFFLINE)
    return on == 0 and off > 0, on, off


def online_score(card: CardUsage) -> int:
    """Return what one card takes off the node's score for an online pod (MXS-15)."""
    on, off = card.marks.count(ONLINE), card.marks.count(OFFLINE)
    return -100 * off if on == 0 else -20 * on - 2 * off
