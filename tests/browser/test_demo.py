"""The demo in a browser: true numbers, soon; honest when cut off; readable without script or mouse."""

import re
import time
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.demo import Demo
from tests.browser.pages import LIVE, OpenPage
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

SHOWN_WITHIN_SECONDS = 1.0
NOTE_WHEN_SHOWN = """([pod]) => {
  const look = () => {
    const row = [...document.querySelectorAll('[data-part="allocations"] tbody tr')]
      .find((row) => row.textContent.includes(pod));
    if (!row || window.shownAt) return;
    window.shownAt = Date.now();
    window.shownRow = [...row.cells].map((cell) => cell.textContent);
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}"""
NOTE_FLASHES = """() => {
  const rows = () => [...document.querySelectorAll('[data-rows="decisions"] tr')];
  const old = new Set(rows().map((row) => row.dataset.id));
  window.newRows = () => rows().filter((row) => !old.has(row.dataset.id)).length;
  window.oldFlashes = 0;
  const look = (changes) => changes.forEach(({ target }) => {
    if (target.matches('.flash') && old.has(target.closest('tr')?.dataset.id)) window.oldFlashes += 1;
  });
  const options = { subtree: true, attributes: true, attributeFilter: ['class'] };
  new MutationObserver(look).observe(document.querySelector('[data-rows="decisions"]'), options);
}"""
FIGURES = ("nodes", "gpus", "mem_mib", "cores", "shares", "pending")
Json = dict[str, Any]


def figures(page: Any) -> dict[str, str]:
    return {name: page.locator(f'.figures [data-live="summary.{name}"]').inner_text() for name in FIGURES}


def told_by(summary: Json) -> dict[str, str]:
    """Write REST's numbers as the overview does: pairs, percents, a plain number."""
    pairs = {name: "{}/{}".format(*summary[name]) for name in ("nodes", "gpus")}
    percents = {
        name: f"{round(summary[name][0] * 100 / summary[name][1])} %"
        for name in ("mem_mib", "cores", "shares")
    }
    return {**pairs, **percents, "pending": str(summary["pending"])}


def emptiest_gpu(page: Any) -> Json:
    gpus = page.request.get("/api/v1/gpus").json()["results"]
    found: Json = min(gpus, key=lambda gpu: (gpu["shares"][0], gpu["cores_percent"][0], gpu["mem_mib"][0]))
    return found


def placed_while_watched(open_demo: OpenPage, demo: Demo) -> tuple[Any, Json, float]:
    """Return a node's page, the GPU on it that a pod was given, and when it was bound (Unix seconds).

    The workload may take the whole GPU between the look and the pod: then another one is tried.
    """
    names = ["prompt", "prompt-again", "prompt-once-more"]
    for name in names:
        gpu = emptiest_gpu(open_demo("/"))
        page = open_demo(f"/nodes/{gpu['node']}")
        page.wait_for_selector(LIVE)
        page.evaluate(NOTE_WHEN_SHOWN, [name])
        limits = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "1024"}
        demo.create(name, limits, **{"nvidia.com/use-gpuuuid": gpu["id"]})
        try:
            wait_until(partial(demo.is_bound, name), seconds=20)
        except AssertionError:
            if name == names[-1]:
                raise
        else:
            break
    return page, gpu, time.time()


def test_a_share_appears_on_its_gpu_within_a_second_of_binding(open_demo: OpenPage, demo: Demo) -> None:
    page, gpu, bound = placed_while_watched(open_demo, demo)
    page.wait_for_function("() => window.shownAt")
    assert page.evaluate("window.shownAt") / 1000 - bound < SHOWN_WITHIN_SECONDS
    assert page.evaluate("window.shownRow.slice(1, 3)") == [str(gpu["index"]), "1.0 GiB"]


def test_the_overview_follows_the_cluster_and_says_what_rest_says(open_demo: OpenPage, demo: Demo) -> None:
    """One more pod waits, so that a figure moves however full the little cluster is."""
    page = open_demo("/")
    page.wait_for_selector(LIVE)
    before = figures(page)
    demo.create("one-more", {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "900000"})

    def is_new_and_true() -> bool:
        shown, told = figures(page), told_by(page.request.get("/api/v1/summary").json())
        return shown != before and shown == told

    wait_until(is_new_and_true, seconds=30)


def test_a_cut_stream_keeps_its_numbers_says_so_and_heals_without_a_reload(open_demo: OpenPage) -> None:
    page = open_demo("/")
    is_cut, sockets = False, []

    def carry(socket: Any) -> None:
        if is_cut:
            socket.close()
            return
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket("**/ws/live", carry)
    page.reload()
    page.wait_for_selector(LIVE)
    page.evaluate("window.sameDocument = true")
    is_cut = True
    sockets[-1].close()
    page.wait_for_selector("html[data-trust=disconnected]")
    expect(page.locator("[data-banner]")).to_be_visible()
    expect(page.locator("[data-banner-text]")).to_have_text(re.compile(r"Disconnected · data of \d\d:\d\d"))
    assert figures(page)["gpus"] == "24/24"
    is_cut = False
    expect(page.locator(LIVE)).to_be_attached(timeout=15_000)
    expect(page.locator("[data-banner]")).to_be_hidden()
    assert page.evaluate("window.sameDocument")


def test_a_new_decision_moves_the_others_down_without_a_flash(open_demo: OpenPage) -> None:
    page = open_demo("/")
    page.wait_for_selector(LIVE)
    page.evaluate(NOTE_FLASHES)
    page.wait_for_function("() => window.newRows() > 0", timeout=30_000)
    assert page.evaluate("window.oldFlashes") == 0


def test_a_pod_that_asks_too_much_waits_and_its_page_says_why(open_demo: OpenPage, demo: Demo) -> None:
    demo.create("too-big", {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "9000000"})
    page = open_demo("/pending?by=pod")
    page.locator('[data-part="pods"] a', has_text="too-big").click()
    page.wait_for_url("**/pods/default/too-big")
    expect(page.locator("h1")).to_contain_text("No GPU of this cluster has 8.6 TiB", timeout=10_000)
    expect(page.locator(".reason .mono")).to_have_text(["8/8 CardInsufficientMemory"])
    assert demo.pod("too-big")["status"]["phase"] == "Pending"


def test_without_script_the_overview_says_what_rest_says(open_demo: OpenPage) -> None:
    page = open_demo("/", script=False)

    def is_true() -> bool:
        page.reload()
        return figures(page) == told_by(page.request.get("/api/v1/summary").json())

    wait_until(is_true, seconds=20)


def test_slash_searches_and_g_f_goes_to_the_fleet(open_demo: OpenPage) -> None:
    page = open_demo("/")
    page.wait_for_selector(LIVE)
    page.keyboard.press("/")
    expect(page.locator("[data-palette-input]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("[data-palette-dialog]")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.wait_for_url("**/fleet")


def test_tab_reaches_the_skip_link_first_and_then_the_navigation(open_demo: OpenPage) -> None:
    page = open_demo("/")
    page.wait_for_selector(LIVE)
    page.keyboard.press("Tab")
    expect(page.locator("a.skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.reload()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("Boolean(document.activeElement.closest('nav.side'))"):
            break
    expect(page.locator("nav.side a").first).to_be_focused()
