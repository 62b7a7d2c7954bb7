"""Django admin: quotas, decisions, refusals. Read only, since the cluster owns the truth."""

from datetime import UTC, datetime

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from scheduler_app.models import DecisionRecord, QuotaRow, RefusalRecord


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic only in the stubs
    """Rows that nobody edits here: limits are changed in the cluster."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(QuotaRow)
class QuotaAdmin(ReadOnlyAdmin):
    list_display = ("namespace", "resource", "limit_text", "used", "unit", "share_text", "source")
    list_filter = ("namespace", "resource")
    search_fields = ("namespace", "resource")

    @admin.display(description="limit", ordering="limit")
    def limit_text(self, row: QuotaRow) -> str:
        return "no limit" if row.limit is None else str(row.limit)

    @admin.display(description="share")
    def share_text(self, row: QuotaRow) -> str:
        share = row.share
        return "—" if share is None else f"{share:.0%}"


@admin.register(DecisionRecord)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ("at_text", "namespace", "pod", "kind", "node", "asked", "fitted", "duration_ms")
    list_filter = ("kind", "namespace")
    search_fields = ("namespace", "pod", "node", "uid")
    show_full_result_count = False

    @admin.display(description="time", ordering="at_ms")
    def at_text(self, row: DecisionRecord) -> str:
        return _utc(row.at_ms)


@admin.register(RefusalRecord)
class RefusalAdmin(ReadOnlyAdmin):
    list_display = ("namespace", "owner", "message", "count", "last_text")
    list_filter = ("namespace",)
    search_fields = ("namespace", "owner", "message")

    @admin.display(description="last", ordering="last_ms")
    def last_text(self, row: RefusalRecord) -> str:
        return _utc(row.last_ms)


def _utc(epoch_ms: int) -> str:
    return f"{datetime.fromtimestamp(epoch_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
