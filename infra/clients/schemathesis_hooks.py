"""What schemathesis cannot know of the management API."""

import re

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """Leave out cursors: none that is made up was issued, so all of them are refused, as they should be. In place of
    null, for the body that may be left out, send another wrong type: null is taken for none. In place of made-up names
    of events, which have the form of names and are refused, send names that are known."""
    if case.query and "cursor" in case.query and case.meta and case.meta.generation.mode.is_positive:
        del case.query["cursor"]
    if case.body is None and case.operation.path.endswith(("/rotate-secret", "/test")):
        case.body = []
    if isinstance(case.body, dict) and case.meta and case.meta.generation.mode.is_positive:
        known = context.operation.schema.raw_schema["components"]["schemas"]["Subscription"]["x-extensible-enum"]
        given = case.body.get("events")
        if isinstance(given, list) and any(name not in known for name in given):
            case.body["events"] = known[: len(given)]


@schemathesis.hook
def map_body(context, body):
    """Leave out names of headers that the API takes for one, and Authorization beside oauth2, which no schema can
    say."""
    if isinstance(body, dict) and isinstance(body.get("headers"), dict):
        folded = {re.sub(r"[\W_]", "_", name.lower()): name for name in body["headers"] if isinstance(name, str)}
        if body.get("oauth2") is not None: # which excludes the header
            folded.pop("authorization", None)
        body["headers"] = {name: body["headers"][name] for name in folded.values()}
    return body
