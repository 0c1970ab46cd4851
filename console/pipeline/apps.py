"""The Django app `console.pipeline`."""

from django.apps import AppConfig


class PipelineConfig(AppConfig):
    name = "console.pipeline"

    def ready(self) -> None:
        from console.live.registry import Fragment, register
        from console.pipeline import pipeline_page

        register("pipeline", Fragment("pipeline.view", "pipeline/live.html", pipeline_page.context))
