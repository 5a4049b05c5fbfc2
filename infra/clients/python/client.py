"""Takes an endpoint through its life by the client that openapi-python-client makes of infra/openapi.yaml."""

import os

from herald import AuthenticatedClient
from herald.api.deliveries import test_endpoint
from herald.api.endpoints import (
    create_endpoint,
    delete_endpoint,
    get_endpoint,
    list_endpoints,
    put_endpoint,
    restore_endpoint,
    update_endpoint,
)
from herald.api.events import list_event_types
from herald.api.secrets import rotate_secret
from herald.models import (
    EndpointChange,
    EndpointChangeStatus,
    Gateway,
    NewEndpoint,
    Problem,
    Test,
    TestType,
)

URL = "https://example.com/hooks"


def client(base_url, key):
    return AuthenticatedClient(base_url=base_url, token=key)


def say(*parts):
    print(*(str(part).lower() if isinstance(part, bool) else part for part in parts))


def fault(what, answer):
    match answer.parsed:
        case Problem() as problem:
            where = ",".join(error.pointer or error.parameter for error in problem.errors or [])
            say(what, answer.status_code.value, problem.status, problem.code, where or "-")
        case Gateway() as gateway:
            say(what, answer.status_code.value, gateway.message)
        case other:
            raise SystemExit(f"{what}: answered {answer.status_code} {other!r}")


def life(api):
    events = ["user.created", "organization.*"]
    answer = create_endpoint.sync_detailed(client=api, body=NewEndpoint(url=URL, events=events, description="one"))
    made = answer.parsed
    say("create", answer.status_code.value, made.status, ",".join(made.events), made.signing_secret.startswith("whsec_"))
    answer = get_endpoint.sync_detailed(made.id, client=api)
    say("get", answer.status_code.value, answer.parsed.url, answer.parsed.created_at == made.created_at)
    second = NewEndpoint(url=URL + "/2", events=["*"])
    put = put_endpoint.sync_detailed(client=api, body=second)
    again = put_endpoint.sync_detailed(client=api, body=second)
    say("put", put.status_code.value, again.status_code.value, again.parsed.status)
    first = list_endpoints.sync_detailed(client=api, limit=1).parsed
    answer = list_endpoints.sync_detailed(client=api, limit=1, cursor=first.next_cursor)
    last = answer.parsed
    say("list", answer.status_code.value, first.data[0].events[0], last.data[0].id == made.id, last.next_cursor is None)
    answer = list_event_types.sync_detailed(client=api)
    say("event types", answer.status_code.value, len(answer.parsed.data), len(answer.parsed.patterns))
    change = EndpointChange(status=EndpointChangeStatus.DISABLED, description="two")
    answer = update_endpoint.sync_detailed(made.id, client=api, body=change)
    say("update", answer.status_code.value, answer.parsed.status, answer.parsed.description)
    back = update_endpoint.sync_detailed(made.id, client=api, body=EndpointChange(status=EndpointChangeStatus.ACTIVE))
    answer = test_endpoint.sync_detailed(made.id, client=api, body=Test(type_=TestType.USER_CREATED))
    say("test", back.status_code.value, answer.status_code.value, answer.parsed.delivery_id.startswith("test_"))
    answer = rotate_secret.sync_detailed(made.id, client=api)
    rotated = answer.parsed
    say("rotate", answer.status_code.value, rotated.signing_secret != made.signing_secret, rotated.secret_rotated_at is not None)
    fault("restore too early", restore_endpoint.sync_detailed(made.id, client=api))
    say("delete", delete_endpoint.sync_detailed(made.id, client=api).status_code.value)
    fault("update too late", update_endpoint.sync_detailed(made.id, client=api, body=change))
    answer = get_endpoint.sync_detailed(made.id, client=api)
    say("get", answer.status_code.value, answer.parsed.status, answer.parsed.deleted_at is not None)
    answer = restore_endpoint.sync_detailed(made.id, client=api)
    say("restore", answer.status_code.value, answer.parsed.status, answer.parsed.deleted_at is not None)


def faults(base_url, api):
    stranger = client(base_url, "hk_unknown")
    reader = client(base_url, os.environ["READ_KEY"])
    star = ["*"]
    fault("unknown key", list_event_types.sync_detailed(client=stranger))
    fault("key without the scope", create_endpoint.sync_detailed(client=reader, body=NewEndpoint(url=URL, events=star)))
    fault("unknown endpoint", get_endpoint.sync_detailed("webhook_unknown", client=api))
    fault("url", create_endpoint.sync_detailed(client=api, body=NewEndpoint(url="http://example.com", events=star)))
    fault("cursor", list_endpoints.sync_detailed(client=api, cursor="never-issued"))


def later(api):
    """Reads what a later version of the service may answer."""
    answer = get_endpoint.sync_detailed("webhook_1", client=api)
    say("later", answer.status_code.value, answer.parsed.status, ",".join(answer.parsed.events))
    fault("later", restore_endpoint.sync_detailed("webhook_1", client=api))
    fault("throttled", delete_endpoint.sync_detailed("webhook_1", client=api))


base = os.environ["API"]
owner = client(base, os.environ["KEY"])
life(owner)
faults(base, owner)
later(client(os.environ["LATER_API"], "hk_any"))
