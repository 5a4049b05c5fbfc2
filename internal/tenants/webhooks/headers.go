package webhooks

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
)

// readHeaders reads an object whose names are those of headers, in its order. It returns no headers for null. The
// values are secrets: a fault names the header and never quotes its value.
func readHeaders(v management.Member[*management.Headers], r *reader) (headers []endpoint.Header) {
	const pointer = "/headers"
	if v.Kind() == 'n' {
		return nil
	}
	if v.Kind() != '{' {
		r.mistyped(pointer, "must be an object or null")
		return nil
	}
	size := 0
	d := jsontext.NewDecoder(bytes.NewReader(v.Value))
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() == '"' {
		var name jsontext.Token
		var value jsontext.Value
		name, err = d.ReadToken()
		if err != nil {
			break
		}
		h := endpoint.Header{Name: name.String()}
		at := string(jsontext.Pointer(pointer).AppendToken(h.Name))
		value, err = d.ReadValue()
		if err != nil {
			break
		}
		if text, ok := r.text(value, at); ok {
			h.Value = text
			checkHeader(h, headers, shortened(at), r)
		}
		headers, size = append(headers, h), size+len(h.Name)+len(h.Value)
	}
	switch {
	case err != nil: // the body was read as JSON before
		r.mistyped(pointer, "must be an object or null")
	case len(headers) > endpoint.MaxHeaders:
		r.refuse(pointer, fmt.Sprintf("must have at most %d headers", endpoint.MaxHeaders))
	case size > endpoint.MaxHeaderBytes:
		r.refuse(pointer, fmt.Sprintf("must have at most %d bytes of names and values", endpoint.MaxHeaderBytes))
	}
	return headers
}

// checkHeader holds a header to the rules, and its name against the headers before it.
func checkHeader(h endpoint.Header, before []endpoint.Header, pointer string, r *reader) {
	name := endpoint.FoldName(h.Name)
	same := func(other endpoint.Header) bool { return endpoint.FoldName(other.Name) == name }
	if slices.ContainsFunc(before, same) {
		r.refuse(pointer, "is a duplicate: names that differ in case or in - and _ are the same")
	}
	if err := h.CheckName(); err != nil {
		r.refuse(pointer, err.Error())
	}
	if err := h.CheckValue(); err != nil {
		r.refuse(pointer, err.Error())
	}
}

// sameOrigin reports whether requests to two URLs go to one host and port. It is false for a URL without an origin.
func sameOrigin(was, now string) bool {
	if was == now {
		return true
	}
	before, err := endpoint.Origin(was)
	if err != nil {
		return false
	}
	after, err := endpoint.Origin(now)
	return err == nil && before == after
}

// dropSealed takes from an endpoint that has moved to another origin what was for the one before, unless the fields
// set it anew.
func (f fields) dropSealed(e *endpoint.Endpoint) {
	if f.headers == nil {
		removeHeaders(e)
	}
	if f.oauth == nil {
		removeOAuth(e)
	}
}

// oauthDropped is dropped for the OAuth of an endpoint.
func oauthDropped(was, now endpoint.Endpoint) bool {
	return was.OAuth != nil && now.OAuth == nil && !sameOrigin(was.URL, now.URL)
}

// dropped names the headers that an endpoint has lost because its URL has moved to another origin. Its owner gave them
// to the origin before, and they are for no other.
func dropped(was, now endpoint.Endpoint) []string {
	if len(now.HeaderNames) > 0 || sameOrigin(was.URL, now.URL) {
		return nil
	}
	return was.HeaderNames
}
