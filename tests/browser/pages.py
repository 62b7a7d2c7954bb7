"""Pages that are watched: what the browser complained of, and what it asked of other hosts."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

LIVE = "html[data-trust=live]"
EXPECTED_WHEN_CUT = re.compile("WebSocket connection|ERR_CONNECTION_REFUSED|Failed to load resource")
COUNT_VIOLATIONS = "addEventListener('securitypolicyviolation', (e) => console.error('CSP', e.blockedURI))"

NARROW_CELLS = """() => [...document.querySelectorAll('td')]
  .filter((cell) => cell.innerText.length > 6 && cell.offsetHeight > 70 && cell.offsetWidth < 60)
  .map((cell) => cell.innerText)"""

OpenPage = Callable[..., Any]


class Watched:
    """Opens pages of the console at ``url`` in contexts of their own."""

    def __init__(self, browser: Any, url: str) -> None:
        self._browser, self._url = browser, url
        self._contexts: list[Any] = []
        self._said: list[str] = []

    def context(self, *, theme: str = "light", width: int = 1440, script: bool = True, **more: Any) -> Any:
        context = self._browser.new_context(
            base_url=self._url,
            viewport={"width": width, "height": 800},
            color_scheme=theme,
            java_script_enabled=script,
            **more,
        )
        self._contexts.append(context)
        context.set_default_timeout(15_000)
        context.add_init_script(COUNT_VIOLATIONS)
        context.on("console", lambda said: self._said.append(said.text) if said.type == "error" else None)
        context.on("weberror", lambda error: self._said.append(str(error.error)))
        context.on("request", lambda request: self._asked(request.url))
        return context

    def open(self, path: str, **more: Any) -> Any:
        page = self.context(**more).new_page()
        page.goto(path)
        return page

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def complaints(self) -> list[str]:
        """Return all but what a browser must say while the console is away."""
        return [text for text in self._said if not EXPECTED_WHEN_CUT.search(text)]

    def _asked(self, url: str) -> None:
        if not url.startswith((f"{self._url}/", "data:")):
            self._said.append(f"asked of another host: {url}")


@contextmanager
def watched(browser: Any, url: str) -> Iterator[Watched]:
    pages = Watched(browser, url)
    yield pages
    pages.close()
    assert pages.complaints() == []
