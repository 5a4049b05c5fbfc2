package release

import (
	"context"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/edges/config"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

const ann = "ann@example.com"

// owners reads what owners say, which may be refused.
type owners struct {
	model.Endpoints
	a *account
}

func (o owners) About(ctx context.Context, all ...endpoint.Endpoint) ([]endpoint.Endpoint, error) {
	o.a.mu.Lock()
	o.a.calls["About"]++
	refused := o.a.refuses("About", backlog.Key{})
	o.a.mu.Unlock()
	if refused {
		return nil, errThrottled
	}
	return o.Endpoints.About(ctx, all...)
}

// A contact is read for a notice alone, and only where notices carry it. No log has it.
//
// Threat of an operator: finds contacts in notices or in a log. Held by: only with `NoticesContact=on`; faults do not
// tell it.
func TestRun_tellsTheContactOnlyIfItShould(t *testing.T) {
	for name, row := range map[string]struct {
		off, recovered, unread bool
		notices, reads         int
		want                   string
	}{
		"on":                     {notices: 1, reads: 1, want: ann},
		"on, and nothing to say": {recovered: true},
		"on, and not to be read": {notices: 1, reads: 1, unread: true},
		"off":                    {off: true, notices: 1},
	} {
		t.Run(name, func(t *testing.T) {
			inAccount(t, func(a *account) {
				a.notices, a.contact = true, !row.off
				if row.unread {
					a.refuse("About")
				}
				down(a)
				a.change(hook, func(e *endpoint.Endpoint) { e.About.Contact = ann })
				a.held(hook, 3)
				if row.recovered {
					a.store(hook, circuit.Failing)
				}
				a.minutes(3)
				if len(a.told) != row.notices || a.calls["About"] != row.reads {
					t.Fatalf("%d notices after %d reads, want %d and %d", len(a.told), a.calls["About"], row.notices, row.reads)
				}
				for _, n := range a.told {
					if n.Contact != row.want {
						t.Errorf("the contact is %q, want %q", n.Contact, row.want)
					}
				}
				if row.unread {
					a.logged(`"action":"reading a contact"`, `"Faults":[1]`)
				}
				if strings.Contains(a.logs.String(), ann) {
					t.Errorf("the log has the contact: %s", &a.logs)
				}
			})
		})
	}
}

func TestNew_readsContactsOnlyIfItShould(t *testing.T) {
	for name, row := range map[string]struct{ notices, contact, want bool }{
		"off":                 {true, false, false},
		"on":                  {true, true, true},
		"on, but notices off": {false, true, false},
	} {
		s := valid
		s.Notices, s.NoticesContact = config.Switch(row.notices), config.Switch(row.contact)
		h, err := New(Config{Settings: s})
		if err != nil || (h.Contacts != nil) != row.want {
			t.Errorf("%s: %v, %v", name, h.Contacts, err)
		}
	}
}
