#!/usr/bin/env bash
# Makes the types of $DESCRIPTION, infra/openapi.yaml, in this folder, checks the program against
# them and runs it. It expects the packages of package-lock.json in node_modules.
set -euo pipefail
openapi-typescript "$DESCRIPTION" -o herald.ts >&2
tsc
exec node client.mts
