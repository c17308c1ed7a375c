"""A tap built with the Meltano SDK, as its cookiecutter would have it: `tap.py --config FILE` with base_url, page, tolerant."""

from singer_sdk import RESTStream, Tap
from singer_sdk import typing as th
from singer_sdk.contrib.msgspec import MsgSpecWriter
from singer_sdk.pagination import BaseOffsetPaginator


class ByAsked(BaseOffsetPaginator):
    """The SDK's paginator for offsets: on by the number asked for, until a window is empty."""

    def has_more(self, response):
        return len(response.json()["body"]["items"]) > 0


class ByReceived(ByAsked):
    """On by the number that came."""

    def get_next(self, response):
        return self.current_value + len(response.json()["body"]["items"])


class Tasks(RESTStream):
    name = "tasks"
    path = "/tasks/list"
    http_method = "POST"
    primary_keys = ("id",)
    records_jsonpath = "$.body.items[*]"
    schema = th.PropertiesList(
        th.Property("id", th.StringType, required=True),
        th.Property("userId", th.StringType),
        th.Property("data", th.ObjectType(additional_properties=True)),
        th.Property("timeframe", th.IntegerType),
        th.Property("accuracy", th.StringType),
        th.Property("systemStatus", th.StringType),
        th.Property("createdAt", th.IntegerType),
        th.Property("completedAt", th.IntegerType),
        th.Property("result", th.ObjectType(additional_properties=True)),
    ).to_dict()

    @property
    def url_base(self):
        return self.config["base_url"]

    def get_new_paginator(self):
        paginator = ByReceived if self.config["tolerant"] else ByAsked
        return paginator(start_value=0, page_size=self.config["page"])

    def prepare_request_payload(self, context, next_page_token):
        return {"skip": next_page_token or 0, "take": self.config["page"]}


class TapTasks(Tap):
    name = "tap-tasks"
    message_writer_class = MsgSpecWriter
    config_jsonschema = th.PropertiesList(
        th.Property("base_url", th.StringType, required=True),
        th.Property("page", th.IntegerType, required=True),
        th.Property("tolerant", th.BooleanType, required=True),
    ).to_dict()

    def discover_streams(self):
        tasks = Tasks(self)
        # Without a key the target stores a task that comes twice as two rows, where it would fail otherwise.
        if self.config["tolerant"]:
            tasks.primary_keys = ()
        return [tasks]


TapTasks.cli()
