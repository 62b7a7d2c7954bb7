"""The console on a made-up cluster. Each test ends with: no error, nothing asked of another host.

They share one console, so each places pods on a node of its own.
"""

import pytest

from tests.browser.conftest import Console
from tests.browser.pages import LIVE, NARROW_CELLS, OpenPage

pytestmark = pytest.mark.browser

FULL_GPUS = "Number(/: (\\d+)/.exec(document.querySelectorAll('[data-atlas-steps] button')[10].title)[1])"


def test_a_pod_that_is_placed_appears_without_a_reload(open_page: OpenPage, console: Console) -> None:
    overview, node = open_page("/"), open_page("/nodes/gpu-0005")
    whole = overview.locator('[data-rows="summary.room"] tr', has_text="A100").locator('[data-f="whole"]')
    before = int(whole.inner_text())
    for page in (overview, node):
        page.wait_for_selector(LIVE)
        page.evaluate("window.sameDocument = true")
    console.tell("place gpu-0005")
    node.locator('[data-part="allocations"]', has_text="fresh-1").wait_for()
    overview.wait_for_function(
        "([before]) => [...document.querySelectorAll('[data-rows=\"summary.room\"] tr')]"
        ".some((row) => row.textContent.includes('A100')"
        " && Number(row.querySelector('[data-f=whole]').textContent) === before - 1)",
        arg=[before],
    )
    assert all(page.evaluate("window.sameDocument") for page in (overview, node))


def test_the_atlas_repaints_the_cell_that_changed(open_page: OpenPage, console: Console) -> None:
    page = open_page("/fleet")
    page.wait_for_selector("[data-atlas][data-drawn]")
    full = page.evaluate(FULL_GPUS)
    console.tell("place gpu-0007")
    page.wait_for_function(f"() => {FULL_GPUS} === {full + 1}")


def test_a_cut_stream_is_said_and_heals_by_itself(open_page: OpenPage, console: Console) -> None:
    page = open_page("/")
    page.wait_for_selector(LIVE)
    page.evaluate("window.sameDocument = true")
    shown = page.locator('[data-live="summary.gpus"]').inner_text()
    console.stop()
    page.wait_for_selector("html[data-trust=disconnected]")
    assert page.locator("[data-banner]").is_visible()
    assert page.locator('[data-live="summary.gpus"]').inner_text() == shown
    page.wait_for_function(
        "() => getComputedStyle(document.querySelector('.layout')).filter === 'saturate(0.6)'"
    )
    console.start()
    page.wait_for_selector(LIVE, timeout=60_000)
    assert not page.locator("[data-banner]").is_visible()
    console.tell("place gpu-0008")
    page.wait_for_function("() => Number(document.querySelector('[data-part-rev]').textContent) >= 2")
    assert page.evaluate("window.sameDocument")


def test_a_paused_page_stands_still_and_then_jumps_to_now(open_page: OpenPage, console: Console) -> None:
    page = open_page("/nodes/gpu-0009")
    page.wait_for_selector(LIVE)
    page.keyboard.press("p")
    page.wait_for_selector("html[data-trust=paused]")
    console.tell("place gpu-0009")
    page.wait_for_function("() => document.querySelector('[data-chip-text]').textContent.match(/[1-9]/)")
    assert page.locator("text=fresh-1").count() == 0
    page.keyboard.press("p")
    page.locator('[data-part="allocations"]', has_text="fresh-1").wait_for()


def test_from_the_overview_to_a_node_by_keyboard_alone(open_page: OpenPage) -> None:
    page = open_page("/")
    page.wait_for_selector(LIVE)
    page.keyboard.press("Control+k")
    page.locator("[data-palette-list] a", has_text="gpu-").first.wait_for()
    page.keyboard.type("0005")
    page.locator("[data-palette-list] a").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/nodes/gpu-0005")
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.wait_for_url("**/fleet")
    page.wait_for_selector("[data-atlas][data-drawn]")
    page.focus("[data-atlas-over]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("[data-say]").inner_text().startswith("gpu-0002, ok")
    page.keyboard.press("Enter")
    page.wait_for_url("**/nodes/gpu-0002")


@pytest.mark.parametrize("path", ["/", "/nodes", "/fleet"])
def test_without_javascript_the_numbers_are_there(open_page: OpenPage, path: str) -> None:
    page = open_page(path, script=False)
    assert "gpu-0001" in page.content() or "387/424" in page.content()


def test_the_theme_is_kept(open_page: OpenPage) -> None:
    page = open_page("/")
    page.wait_for_selector(LIVE)
    page.click("[data-theme-switch]")
    page.click("[data-theme-switch]")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(15, 19, 24)"


@pytest.mark.parametrize("path", ["/pending", "/pending?by=pod", "/quotas", "/decisions", "/nodes"])
def test_a_narrow_window_does_not_stack_letters(open_page: OpenPage, path: str) -> None:
    page = open_page(path, width=360)
    page.wait_for_selector("td", state="attached")
    assert page.evaluate(NARROW_CELLS) == []
