// Package herald is the client that oapi-codegen generates from infra/openapi.yaml. The generated code
// is written next to this file, in a copy of the folder, and is not kept.
package herald
