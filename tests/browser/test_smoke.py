"""Each page in both colour schemes, three widths and two languages: it loads, says nothing, and fits."""

from functools import partial
from typing import Any

import pytest

from tests.browser.demo import Demo
from tests.browser.pages import LIVE, NARROW_CELLS, OpenPage
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

PAGES = (
    "/",
    "/fleet",
    "/nodes",
    "/nodes/a100-01",
    "/pending",
    "/quotas",
    "/decisions",
    "/scheduler",
    "/login",
)
WIDTHS = (1440, 768, 360)
TOO_WIDE = "() => document.scrollingElement.scrollWidth - innerWidth"
HANGS_OUT = """() => [...document.querySelectorAll('.card')]
  .filter((card) => card.scrollWidth > card.clientWidth + 1 && !card.matches('pre'))
  .map((card) => card.innerText.slice(0, 60))"""


def open_loaded(open_demo: OpenPage, path: str, **more: Any) -> Any:
    signed_out = {"storage_state": None} if path == "/login" else {}
    page = open_demo(path, **signed_out, **more)
    page.wait_for_selector("main.card form" if path == "/login" else LIVE)
    return page


def check_it_fits(page: Any, path: str) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            assert page.evaluate(TOO_WIDE) <= 0, (path, width, theme)
        assert page.evaluate(HANGS_OUT) == [], (path, width)
        assert page.evaluate(NARROW_CELLS) == [], (path, width)


@pytest.mark.parametrize("path", PAGES)
def test_each_page_loads_and_fits_its_window(open_demo: OpenPage, path: str) -> None:
    page = open_loaded(open_demo, path)
    assert page.locator("html").get_attribute("lang") == "en"
    check_it_fits(page, path)


@pytest.mark.parametrize("path", PAGES)
def test_each_page_fits_its_window_in_chinese(open_demo: OpenPage, path: str) -> None:
    page = open_loaded(open_demo, path, locale="zh-CN", width=360, theme="dark")
    assert page.locator("html").get_attribute("lang") == "zh-hans"
    check_it_fits(page, path)


def test_the_pages_of_pods_that_wait_and_that_run_fit_their_window(open_demo: OpenPage, demo: Demo) -> None:
    """A pod of long words: its name, an annotation that is no policy, and a GPU's model."""
    page = open_loaded(open_demo, "/", locale="zh-CN")
    small = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "64"}
    demo.create("runs-with-a-name-that-is-rather-long", small)
    policy = {"hami.io/gpu-scheduler-policy": "binpack,faster-than-all-the-others"}
    demo.create("waits-with-a-name-that-is-rather-long", {**small, "nvidia.com/gpumem": "9000000"}, **policy)
    wait_until(partial(demo.is_bound, "runs-with-a-name-that-is-rather-long"), seconds=60)
    for name, shown in (("waits", ".journey"), ("runs", "table.cards td.keep")):
        path = f"/pods/default/{name}-with-a-name-that-is-rather-long"
        wait_until(partial(is_there, page, path), seconds=30)
        page.goto(path)
        page.wait_for_selector(shown)
        check_it_fits(page, path)


def is_there(page: Any, path: str) -> bool:
    found: bool = page.request.get(path).status == 200
    return found
