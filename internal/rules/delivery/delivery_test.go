package delivery

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

func TestID_tellsApartWhateverDiffers(t *testing.T) {
	body := []byte(`{"type":"user.deleted","data":{}}`)
	id := ID("tenant", "event", "webhook_1", ContentOf(body))
	// A changed digest would give deliveries in flight a second id: this one is for ever.
	if want := "msg_rcbccxvatto4aycemysznrkllzmw235f"; id != want {
		t.Errorf("id %q, want %q", id, want)
	}
	if !regexp.MustCompile(`^msg_[a-z2-7]{32}$`).MatchString(id) {
		t.Errorf("id %q", id)
	}
	if again := ID("tenant", "event", "webhook_1", ContentOf(bytes.Clone(body))); again != id {
		t.Errorf("the same event has a second id, %q", again)
	}
	for _, other := range [][4]string{
		{"tenante", "vent", "webhook_1", string(body)}, {"tenant", "eventw", "ebhook_1", string(body)},
		{"", "tenantevent", "webhook_1", string(body)}, {"event", "tenant", "webhook_1", string(body)},
		{"tenant", "event", "webhook_1", `{"type":"user.banned","data":{}}`},
		{"tenant", "event", "webhook_1", `{"type":"user.deleted","data":{"a":1}}`},
		{"tenant", "event", "webhook_1", `{"type":"user.deleted","data":{ }}`},
	} {
		if ID(other[0], other[1], other[2], ContentOf([]byte(other[3]))) == id {
			t.Errorf("%q has the id of another delivery", other)
		}
	}
}

// Whatever names a publisher chooses, no delivery of an event passes for a test, and no test for a delivery.
//
// Threat of a tenant: has a test taken for an event, or the reverse. Held by: the signed `wh-id` begins with `test_`,
// and no event's does.
func TestTestID_isOfTestsAlone(t *testing.T) {
	for _, c := range []struct{ tenant, event, endpoint, eventType, data string }{
		{"acme", "evt_1", "webhook_1", TestType, "{}"},
		{"acme", "test_1", "webhook_1", TestType, "{}"},
		{"acme", "test_1", "webhook_1", "user.created", `{"userId":"user_1"}`},
		{"test_", "", "test_webhook", "user.created", `{"wh-id":"test_"}`},
		{"acme", "e", "webhook_1\x00\x00\x00\x05test_", "user.created", "{}"},
	} {
		m := NewTest(Ref{TenantID: c.tenant, EventID: c.event, EndpointID: c.endpoint}, c.eventType, c.data)
		name, err := m.EventType()
		if !regexp.MustCompile(`^test_[a-z2-7]{32}$`).MatchString(m.DeliveryID) || !m.IsTest() || m.Check() != nil {
			t.Errorf("a test is %q, %v", m.DeliveryID, m.Check())
		}
		if err != nil || name != c.eventType || string(m.Body) != `{"type":"`+c.eventType+`","data":`+c.data+`}` {
			t.Errorf("its type is %q, %v; its body %s", name, err, m.Body)
		}
		event := m
		event.DeliveryID = ID(c.tenant, c.event, c.endpoint, ContentOf(m.Body))
		if event.IsTest() || event.Check() != nil {
			t.Errorf("an event's delivery with the same content: %q, %v", event.DeliveryID, event.Check())
		}
		for from, to := range map[string]string{event.DeliveryID: "test_", m.DeliveryID: "msg_"} {
			_, digest, _ := strings.Cut(from, "_")
			forged := m
			if forged.DeliveryID = to + digest; forged.Check() != ErrForeign { //nolint:errorlint // returned as it is
				t.Errorf("%s becomes %s", from, forged.DeliveryID)
			}
		}
	}
}

func TestMessage_EventType(t *testing.T) {
	longest := strings.Repeat("x", 127)
	for name, row := range map[string]struct {
		body, want string
		err        error
	}{
		"the type first":              {`{"type":"user.created","data":{}}`, "user.created", nil},
		"a type of one character":     {`{"type":"x"`, "x", nil},
		"the longest type":            {`{"type":"` + longest + `"`, longest, nil},
		"a type longer than that":     {`{"type":"` + longest + `x"`, "", ErrNoType},
		"the type after the data":     {`{"data":{},"type":"user.created"}`, "", ErrNoType},
		"an empty type":               {`{"type":""`, "", ErrNoType},
		"a type without an end":       {`{"type":"x`, "", ErrNoType},
		"nothing after the type's \"": {`{"type":"`, "", ErrNoType},
		"no body":                     {"", "", ErrNoType},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Message{Body: []byte(row.body)}.EventType()
			if got != row.want || err != row.err { //nolint:errorlint // returned as it is
				t.Errorf("%q, %v; want %q, %v", got, err, row.want, row.err)
			}
		})
	}
}

func TestMessage_Check_findsWhatDoesNotBelongTogether(t *testing.T) {
	whole := Message{
		Ref:  Ref{TenantID: "acme", EventID: "evt_1", EndpointID: "webhook_1"},
		Body: []byte(`{"type":"user.deleted","data":{}}`),
	}
	whole.DeliveryID = ID(whole.TenantID, whole.EventID, whole.EndpointID, ContentOf(whole.Body))
	for name, c := range map[string]struct {
		change func(m *Message)
		want   error
	}{
		"a whole message":          {func(*Message) {}, nil},
		"another tenant's":         {func(m *Message) { m.TenantID = "emca" }, ErrForeign},
		"another endpoint's":       {func(m *Message) { m.EndpointID = "webhook_2" }, ErrForeign},
		"another event's":          {func(m *Message) { m.EventID = "evt_2" }, ErrForeign},
		"a body that was cut off":  {func(m *Message) { m.Body = m.Body[:20] }, ErrForeign},
		"a body that has no type":  {untyped, ErrNoType},
		"an id of nothing we know": {func(m *Message) { m.DeliveryID = "msg_1" }, ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			m := whole
			c.change(&m)
			if err := m.Check(); err != c.want { //nolint:errorlint // returned as it is
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func untyped(m *Message) {
	m.Body = []byte(`{"data":{}}`)
	m.DeliveryID = ID(m.TenantID, m.EventID, m.EndpointID, ContentOf(m.Body))
}
