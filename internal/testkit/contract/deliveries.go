package contract

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// CheckDelivery returns a delivery's violations, as its receiver got it.
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
