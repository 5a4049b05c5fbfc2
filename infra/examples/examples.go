// Package examples holds one realistic message of every event of the specification, and the publishers and receivers of
// README.md and infra/docs/receivers.md.
//
// It promises that the service accepts each message. Its receivers and publishers use nothing of this module, so that
// they can be copied as they are.
package examples

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

//go:embed events/*.json
var events embed.FS

// Message is an event message as the auth service puts it on the events queue.
type Message struct {
	ID         string         `json:"id,omitempty"`
	TenantID   string         `json:"tenant_id"`
	Type       string         `json:"type"`
	OccurredAt string         `json:"occurred_at,omitempty"`
	Data       jsontext.Value `json:"data"`
}

// Payload returns the exact body that every receiver of the message must get.
func (m Message) Payload() string {
	return `{"type":"` + m.Type + `","data":` + string(m.Data) + `}`
}

// Body returns the message in the form that is sent to the events queue. Data keeps every
// byte, whitespace included, which marshalling would not promise.
func (m Message) Body() (string, error) {
	head := m
	head.Data = jsontext.Value("{}")
	b, err := json.Marshal(head)
	if err != nil {
		return "", fmt.Errorf("encoding event message: %w", err)
	}
	return strings.TrimSuffix(string(b), "{}}") + string(m.Data) + "}", nil
}

// Event returns the sample message of one event type, addressed to the tenant. For an adopter's own type it is the
// example of the catalogue, without an id.
func Event(eventType, tenantID string) (Message, error) {
	raw, err := events.ReadFile("events/" + eventType + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		for _, t := range catalogue.Types() {
			if t.Name == eventType {
				return Message{TenantID: tenantID, Type: t.Name, Data: jsontext.Value(t.Example)}, nil
			}
		}
	}
	if err != nil {
		return Message{}, fmt.Errorf("reading sample: %w", err)
	}
	var m Message
	if err := json.Unmarshal(raw, &m, json.RejectUnknownMembers(true)); err != nil {
		return Message{}, fmt.Errorf("decoding sample %s: %w", eventType, err)
	}
	m.TenantID = tenantID
	return m, nil
}
