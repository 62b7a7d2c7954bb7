"""Static files from memory-sized responses: WhiteNoise finds them, the event loop sends them."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # whitenoise ships no types
    """WhiteNoise answers with a synchronous stream, which an ASGI server must first drain.

    Our files are small.
    """

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        body = b"" if found.file is None else found.file.read()
        response = HttpResponse(body, status=int(found.status))
        del response.headers["Content-Type"]
        for name, value in found.headers:
            response.headers[name] = value
        if found.file is not None:
            found.file.close()
        return response
