// Package notice puts notices for the owners of endpoints on the stack's event bus: a circuit opened or recovered, an
// operator paused or resumed an endpoint, a delivery died.
//
// It promises that a notice which is put again has the same id, and that none holds a secret, the path of a URL or a
// body. It holds the contact of an endpoint only if the caller has read it. infra/notice.schema.json describes it.
package notice

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// Source is the source of every notice.
const Source = "herald"

// DetailType is the detail-type of every notice. Its kind says which change it is about.
const DetailType = "Webhook Endpoint Notice"

// Notice is the detail of an event.
type Notice struct {
	ID          string       `json:"id"` // the same however often it is put
	Kind        circuit.Kind `json:"kind"`
	TenantID    string       `json:"tenant_id"`
	EndpointID  string       `json:"endpoint_id"`
	Host        string       `json:"host"`
	Description string       `json:"description"`
	At          time.Time    `json:"at"`
	Since       time.Time    `json:"since,omitzero"`  // of an end: the beginning
	Reason      string       `json:"reason,omitzero"` // of the failure behind it, as delivery.Reason
	Status      int          `json:"status,omitzero"` // of the last answer, if there was one
	Contact     string       `json:"contact,omitzero"`
}

// Of is the notice of a change of an endpoint. Endpoint, kind and time make its id, so a notice that is put twice can
// be told by it.
func Of(e endpoint.Endpoint, n circuit.Notice) Notice {
	return Notice{
		ID:   e.ID + "/" + string(n.Kind) + "/" + strconv.FormatInt(n.At.UnixMilli(), 10),
		Kind: n.Kind, TenantID: e.TenantID, EndpointID: e.ID, Host: e.Host(), Description: e.Description,
		At: n.At.UTC(), Since: n.Since.UTC(), Reason: n.Reason, Status: n.Status,
		Contact: e.About.Contact,
	}
}

// Client is the part of EventBridge's client that Bus calls.
type Client interface {
	PutEvents(ctx context.Context, in *eventbridge.PutEventsInput, options ...func(*eventbridge.Options)) (
		*eventbridge.PutEventsOutput, error)
}

// Bus is an event bus.
type Bus struct {
	Client Client
	Name   string
}

var errNotNamed = errors.New("the answer does not name this notice")

// Put puts at most ten notices, EventBridge's limit of a call. The answer has one error for each: nil only where
// EventBridge took it.
func (b Bus) Put(ctx context.Context, notices []Notice) []error {
	errs := make([]error, len(notices))
	entries := make([]types.PutEventsRequestEntry, len(notices))
	for n, one := range notices {
		detail, err := json.Marshal(one)
		if err != nil {
			return all(errs, err)
		}
		entries[n] = types.PutEventsRequestEntry{
			EventBusName: &b.Name, Source: aws.String(Source), DetailType: aws.String(DetailType),
			Detail: aws.String(string(detail)), Time: &one.At,
		}
	}
	out, err := b.Client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: entries})
	if err != nil {
		return all(errs, err)
	}
	for n := range errs {
		switch {
		case n >= len(out.Entries):
			errs[n] = errNotNamed
		case out.Entries[n].ErrorCode != nil:
			errs[n] = fmt.Errorf("putting on the bus: %s", *out.Entries[n].ErrorCode)
		case out.Entries[n].EventId == nil:
			errs[n] = errNotNamed
		}
	}
	return errs
}

// all gives one error to all notices: the call failed as a whole.
func all(errs []error, err error) []error {
	for n := range errs {
		errs[n] = fmt.Errorf("putting on the bus: %w", err)
	}
	return errs
}
