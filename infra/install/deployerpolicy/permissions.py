"""Prints the actions that CloudFormation's own handlers of resource types call, by type, as JSON.

usage: permissions.py TYPE...

AWS publishes each type's schema with the permissions of its handlers; cfn-lint ships a copy of them.
"""

import json
import sys

from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

found = {}
for kind in sys.argv[1:]:
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema
    actions = {a for handler in schema["handlers"].values() for a in handler.get("permissions", [])}
    found[kind] = sorted(actions)
json.dump(found, sys.stdout)
