"""Prints the Regions that CloudFormation's registry lacks a type in, as JSON: {REGION: [TYPE, ...]}, of every Region.

usage: regions.py TYPE...

cfn-lint ships a copy of the registry's schemas.
"""

import json
import sys

from cfnlint.helpers import REGIONS
from cfnlint.schema import ResourceNotFoundError
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER


def missing(region: str, kind: str) -> bool:
    try:
        PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, kind)
    except ResourceNotFoundError:
        return True
    return False


json.dump({r: [kind for kind in sys.argv[1:] if missing(r, kind)] for r in sorted(REGIONS)}, sys.stdout)
