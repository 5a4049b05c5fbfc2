// Package herald is the client that oapi-codegen makes of infra/openapi.yaml. What it makes lands
// beside this file, in a copy of the folder, and is not kept.
package herald
