"""What ``--profiling`` adds (H-1): the places of all threads at this moment, under the reference's paths."""

import sys
import threading
import traceback
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from rest_framework.request import Request

from scheduler_app import bootstrap
from scheduler_app.extender.views import PLAIN_TEXT, WireView

SYMBOLS = "num_symbols: 1\n"  # what Go's tools ask for before they fetch a profile


class ProfileView(WireView):
    """GET only, and not there at all without the flag."""

    http_method_names = ["get", "options"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if not bootstrap.parts().config.profiling:
            raise Http404
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: Request, what: str = "") -> HttpResponse:
        text = SYMBOLS if what == "symbol" else _stacks()
        return HttpResponse(text, content_type=PLAIN_TEXT, headers={"X-Content-Type-Options": "nosniff"})


def _stacks() -> str:
    """Return where each thread is, newest call last."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    found = []
    for ident, frame in sys._current_frames().items():
        lines = "".join(traceback.format_stack(frame))
        found.append(f"thread {names.get(ident, ident)}\n{lines}")
    return "\n".join(sorted(found))
