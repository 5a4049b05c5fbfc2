package contract

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// CheckDelivery returns what a delivery, as its receiver got it, violates.
func (c *Contract) CheckDelivery(event string, header http.Header, body []byte) error {
	item := c.document.Webhooks[event]
	if item == nil {
		return fmt.Errorf("the event %q is not described", event)
	}
	req := (&http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: "/"}, Header: header, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader(body)),
	}).WithContext(context.Background())
	err := openapi3filter.ValidateRequest(context.Background(), &openapi3filter.RequestValidationInput{
		Request: req,
		Route:   &routers.Route{Spec: c.document, PathItem: item, Method: http.MethodPost, Operation: item.Post},
		Options: &openapi3filter.Options{MultiError: true},
	})
	if err != nil {
		return fmt.Errorf("a delivery of %s is not as documented: %w", event, err)
	}
	return nil
}

// Deliveries returns the names of the events whose deliveries are described.
func (c *Contract) Deliveries() []string {
	var names []string
	for name := range c.document.Webhooks {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Sample returns the example that the description of an event's deliveries gives; nil for none.
func (c *Contract) Sample(event string) any {
	item := c.document.Webhooks[event]
	if item == nil {
		return nil
	}
	example := item.Post.RequestBody.Value.Content["application/json"].Examples["illustrative"]
	if example == nil {
		return nil
	}
	return example.Value.Value
}

// Subscriptions returns the event names and patterns that a request may name.
func (c *Contract) Subscriptions() []any {
	return c.document.Components.Schemas["Subscription"].Value.Enum
}
