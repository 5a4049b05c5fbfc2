// Package examples holds one realistic message of every event of the specification, and the publishers and receivers of
// README.md and infra/docs/receivers.md.
//
// It promises that the service accepts each message. Its receivers and publishers use nothing of this module, so that
// they can be copied as they are.
package examples

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
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

// Unlike returns the message with other bytes for each n, from 0 on, and the same meaning. The bytes differ by white
// space, since the schema of an adopter's own type may allow no further field.
func (m Message) Unlike(n int64) Message {
	blank := strings.NewReplacer("0", " ", "1", "\t").Replace(strconv.FormatInt(n, 2))
	m.Data = jsontext.Value("{" + blank + strings.TrimSpace(string(m.Data))[1:])
	return m
}

// Unknown is a type that no catalogue has: names below herald are not for adopters.
const Unknown = "herald.unknown"

// Choose returns a type of the catalogue for each of the wanted ones: that type itself, or another one in its place if
// an adopter's catalogue has left it out. No two are alike, unless the catalogue has too few types.
func Choose(wanted ...string) []string { return choose(catalogue.Types(), wanted) }

func choose(types []catalogue.Type, wanted []string) (chosen []string) {
	var spare []string
	left := map[string]bool{}
	for _, t := range types {
		left[t.Name] = slices.Contains(wanted, t.Name)
		if !left[t.Name] {
			spare = append(spare, t.Name)
		}
	}
	for n, name := range wanted {
		switch {
		case left[name]:
		case len(spare) > 0:
			name, spare = spare[0], spare[1:]
		default:
			name = types[n%len(types)].Name
		}
		chosen = append(chosen, name)
	}
	return chosen
}

// Event returns the sample message of one event type, addressed to the tenant. For a type that the adopter's catalogue
// describes, it is the example of the catalogue, without an id.
func Event(eventType, tenantID string) (Message, error) {
	if t, found := catalogue.Find(eventType); found && !catalogue.Specified(eventType) {
		return Message{TenantID: tenantID, Type: t.Name, Data: jsontext.Value(t.Example)}, nil
	}
	raw, err := events.ReadFile("events/" + eventType + ".json")
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
