#!/usr/bin/env bash
# Makes the client of $DESCRIPTION, infra/openapi.yaml, in this folder and runs the program on it.
set -euo pipefail
openapi-python-client generate --path "$DESCRIPTION" --config openapi-python-client.yaml \
  --output-path herald --meta none --fail-on-warning >&2
exec python client.py
