package problem

import (
	"maps"
	"slices"
)

// Code is for programs to branch on. Codes are never renamed or given a second meaning.
type Code string

// The codes of the management API.
const (
	CodeMalformedRequest     Code = "malformed_request"
	CodeInvalidJSON          Code = "invalid_json"
	CodeInvalidBody          Code = "invalid_body"
	CodeUnexpectedBody       Code = "unexpected_body"
	CodeInvalidQuery         Code = "invalid_query"
	CodeInvalidCursor        Code = "invalid_cursor"
	CodeUnauthenticated      Code = "unauthenticated"
	CodeInsufficientScope    Code = "insufficient_scope"
	CodeEndpointNotFound     Code = "endpoint_not_found"
	CodeRouteNotFound        Code = "route_not_found"
	CodeMethodNotAllowed     Code = "method_not_allowed"
	CodeConflict             Code = "conflict"
	CodeEndpointDeleted      Code = "endpoint_deleted"
	CodeEndpointNotDeleted   Code = "endpoint_not_deleted"
	CodeEndpointDisabled     Code = "endpoint_disabled"
	CodeEndpointPaused       Code = "endpoint_paused"
	CodeCircuitOpen          Code = "circuit_open"
	CodeEndpointLimit        Code = "endpoint_limit"
	CodeDuplicateURL         Code = "duplicate_url"
	CodeHostLimit            Code = "host_limit"
	CodeBodyTooLarge         Code = "body_too_large"
	CodeUnsupportedMediaType Code = "unsupported_media_type"
	CodeValidationFailed     Code = "validation_failed"
	CodeTooManyRequests      Code = "too_many_requests"
	CodeTooManyTests         Code = "too_many_tests"
	CodeInternal             Code = "internal"
	CodeUnavailable          Code = "unavailable"
)

// meaning is the documentation of a code, kept here so that the answer and the documentation are one.
type meaning struct {
	status  int
	title   string
	meaning string // the documented meaning, and the detail where none is given
}

// meanings has every code. A test compares it with infra/openapi.yaml, so a new code goes into both.
var meanings = map[Code]meaning{
	CodeMalformedRequest: {400, "Request is malformed",
		"The gateway passed on something that is not an HTTP request."},
	CodeInvalidJSON: {400, "Body is not JSON",
		"The body is not one well-formed JSON value in UTF-8 without duplicate names."},
	CodeInvalidBody: {400, "Body has the wrong shape",
		"The body has an unknown field, or a value of the wrong type."},
	CodeUnexpectedBody: {400, "No body expected",
		"This operation takes no body: send none, {} or null."},
	CodeInvalidQuery: {400, "Invalid query",
		"A query parameter is unknown, is repeated or has a value that is not allowed."},
	CodeInvalidCursor: {400, "Invalid cursor",
		"The cursor was not issued for this list. Start again without one."},
	CodeUnauthenticated: {401, "Not authenticated",
		"The request needs the header Authorization: Bearer with a valid API key."},
	CodeInsufficientScope: {403, "Scope missing",
		"The API key lacks the scope that this operation needs."},
	CodeEndpointNotFound: {404, "No such endpoint",
		"There is no webhook endpoint with this id."},
	CodeRouteNotFound: {404, "No such path",
		"There is nothing at this path."},
	CodeMethodNotAllowed: {405, "Method not allowed",
		"The path exists, but not with this method; the Allow header lists those it has."},
	CodeConflict: {409, "Changed meanwhile",
		"Another request changed the endpoint at the same time, so nothing was done. Try again."},
	CodeEndpointDeleted: {409, "Endpoint is deleted",
		"The endpoint is deleted and can be neither changed nor tested. Restore it first."},
	CodeEndpointNotDeleted: {409, "Endpoint is not deleted",
		"Only a deleted endpoint can be restored, and this one is not deleted."},
	CodeEndpointDisabled: {409, "Endpoint is disabled",
		"The endpoint is disabled and gets no deliveries, so it cannot be tested. Set its status to active first."},
	CodeEndpointPaused: {409, "Endpoint is paused",
		"An operator has paused deliveries to the endpoint, so it cannot be tested. Ask the operator."},
	CodeCircuitOpen: {409, "Endpoint keeps failing",
		"The endpoint keeps failing, so it cannot be tested. It gets one waiting delivery at a time until one succeeds."},
	CodeEndpointLimit: {409, "Too many endpoints",
		"The tenant has reached its limit of webhook endpoints that are not deleted. Delete one first."},
	CodeDuplicateURL: {409, "URL is in use",
		"Another endpoint of the tenant has this URL and is not deleted. Change that one, or delete it first."},
	CodeHostLimit: {409, "Too many endpoints at a domain",
		"The tenant has reached its limit of endpoints at this domain. Delete one first, or ask the operator for more."},
	CodeBodyTooLarge: {413, "Body too large",
		"The body is larger than 65536 bytes."},
	CodeUnsupportedMediaType: {415, "Unsupported media type",
		"The body must be sent as Content-Type: application/json, without a Content-Encoding."},
	CodeValidationFailed: {422, "Not allowed",
		"The body is well-formed, but what it asks for is not allowed."},
	CodeTooManyRequests: {429, "Too many requests",
		"The API key has used up its requests for this minute. Try again after the time in Retry-After."},
	CodeTooManyTests: {429, "Too many tests",
		"You have used up this minute's tests at the endpoint's domain. Try again after the time in Retry-After."},
	CodeInternal: {500, "Internal error",
		"Something went wrong on our side. With the request id, we can find it in our logs."},
	CodeUnavailable: {503, "Temporarily unavailable",
		"A service behind this one does not answer, or too many endpoints are changed at once. " +
			"Try again after the time in Retry-After."},
}

// Codes returns all codes, sorted: for tests that compare them with the API description.
func Codes() []Code { return slices.Sorted(maps.Keys(meanings)) }

// Status returns the HTTP status of the code.
func (c Code) Status() int { return meanings[c].status }

// Meaning returns the one documented meaning of the code.
func (c Code) Meaning() string { return meanings[c].meaning }
