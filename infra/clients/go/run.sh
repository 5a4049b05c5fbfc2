#!/usr/bin/env bash
# Makes the client of $DESCRIPTION, infra/openapi.yaml, in this folder and runs the program on it.
set -euo pipefail
go tool oapi-codegen -config oapi-codegen.yaml -o herald/herald.gen.go "$DESCRIPTION"
go vet ./...
exec go run .
