"""What ``kubectl apply`` asks before it sends anything: an OpenAPI document, here an empty one (K4.3-2)."""

CONTENT_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

# A gnostic Document: swagger "2.0", a title and version, no paths. kubectl then skips its own validation and
# uses the patch metadata compiled into it. It does not take JSON here.
DOCUMENT = bytes.fromhex("0a03322e30120a0a016b120576312e33334200")
