"""The site as a Django app: what must happen once Django has started."""

from django.apps import AppConfig
from django.conf import settings

from hami_site.env import keep_local_time


class SiteConfig(AppConfig):
    name = "hami_site"

    def ready(self) -> None:
        keep_local_time(settings.LOCAL_TZ)
