"""Prints what the registry's schemas say about replacements, as JSON: {TYPE: [PATH, ...]}, the create-only properties.

usage: schemas.py TYPE...

cfn-lint ships a copy of the schemas.
"""

import json
import sys

from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

paths = {}
for kind in sys.argv[1:]:
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema
    found = schema.get("createOnlyProperties", []) + schema.get("conditionalCreateOnlyProperties", [])
    paths[kind] = sorted(set(found))
json.dump(paths, sys.stdout)
