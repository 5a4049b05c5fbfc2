"""Prints what the registry says about types, as JSON: {TYPE: {"createOnly": [PATH, ...], "identity": [PATH, ...]}}.

A changed create-only property makes another resource. Two resources with the same identity are one to AWS; a type has
none here if AWS chooses a part of it.

usage: schemas.py TYPE...

cfn-lint ships a copy of the schemas.
"""

import json
import sys

from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

said = {}
for kind in sys.argv[1:]:
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema
    found = schema.get("createOnlyProperties", []) + schema.get("conditionalCreateOnlyProperties", [])
    identity = schema["primaryIdentifier"]
    if set(identity) & set(schema.get("readOnlyProperties", [])):
        identity = []
    said[kind] = {"createOnly": sorted(set(found)), "identity": identity}
json.dump(said, sys.stdout)
