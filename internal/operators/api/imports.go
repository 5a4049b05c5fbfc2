package api

import "github.com/go-json-experiment/json/jsontext"

// ImportEndpoints creates endpoints that tenants had at another sender. Their secrets sign on. An endpoint that exists
// already stays as it is, so the same request may be made again.
var ImportEndpoints = Action[ImportRequest, ImportAnswer]{Webhooks, "import"}

// The results of imports.
const (
	ResultCreated     Result = "created"
	ResultWouldCreate Result = "would_create" // of a dry run
	ResultExists      Result = "exists"       // the tenant has an endpoint with this URL, which stays as it is
)

// ImportRequest has the endpoints to create.
type ImportRequest struct {
	// 1 to 10 endpoints. Each has tenant_id and secret, and the fields of an endpoint that is created in the API. They
	// are raw so that a fault of one refuses none of the others.
	Endpoints []jsontext.Value `json:"endpoints"`

	// Makes the same checks, and stops before the first write.
	DryRun bool `json:"dry_run"`
}

// ImportAnswer has one result for each endpoint of the request, in its order: a fault of one stops none of the others.
type ImportAnswer struct {
	Data []Imported `json:"data"`
}

// Imported is the result for one endpoint. Neither its secret nor its URL's path is in it.
type Imported struct {
	TenantID string `json:"tenant_id"`
	Host     string `json:"host"`

	// Empty unless the endpoint was created, or exists already.
	EndpointID string `json:"endpoint_id"`
	Result     Result `json:"result"`

	// Why it was refused, or failed.
	Errors []FieldError `json:"errors,omitzero"`
}

// FieldError is a fault of one field.
type FieldError struct {
	// Empty if the endpoint as a whole is at fault.
	Field   string `json:"field"`
	Message string `json:"message"`
}
