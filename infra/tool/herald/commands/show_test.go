package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

func TestShow_keepsBodiesReadable(t *testing.T) {
	long := strings.Repeat("v", 1_000)
	f := fakeOf(to(api.OpenDeadLetter, api.OpenedDeadLetter{
		DeadLetter: api.DeadLetter{EndpointID: "webhook_1"}, Body: "{\r\n\t\"a\": \"\u001b[2J\"\n}",
		Headers: map[string]string{"x-long": long + "\u001b"},
		History: []deadletter.Entry{{Attempts: 6, Reason: "http_\u001b5xx", DiedAt: time.Unix(1, 0)}},
	}))
	f.ends(t, exit.Done, "dead show msg_1", "its endpoint was not answered",
		"after 6 attempts, the last: http_\uFFFD5xx\n", long+"\uFFFD\n",
		"\nBody\n"+`{\r\n\t"a": "`+"\uFFFD"+`[2J"\n}`+"\n")
}

func TestTable_hasNoStatusWhereThereWasNoResponse(t *testing.T) {
	f := fakeOf(to(api.ListDeliveries, api.DeliveryList{List: listOf(
		api.Delivery{Attempts: 7, Reason: delivery.ReasonDNS},
		api.Delivery{LastStatus: 503, Reason: delivery.ReasonHTTP5xx})}))
	out := f.ends(t, exit.Done, "deliveries find --endpoint webhook_1")
	contains(t, strings.Join(strings.Fields(out), " "), "7 – dns", "0 503 http_5xx")
	f.ends(t, exit.Done, "-o json deliveries find --endpoint webhook_1", `"last_status": 0`)
}

// The console offers the same acts, by the same package. An id or name is typed only once: into show.
func TestEndpoints_show_namesTheNextCommands(t *testing.T) {
	dead, none := listOf(api.DeadLetter{DeliveryID: "msg_1"}), listOf[api.DeadLetter]()
	in := func(state api.State) api.Endpoint { return api.Endpoint{Health: api.Health{State: state}} }
	backlog, ofTenant := in(api.StateOpen), in(api.StatePaused)
	backlog.Waiting.Count, ofTenant.TenantPaused = 30, true
	warnings := map[string]string{
		"open":                   "Sending what waits makes 30 deliveries at once",
		"paused with its tenant": "This is a pause of the whole tenant.\nnext: ",
	}
	for name, c := range map[string]struct {
		named   string
		shown   api.Endpoint
		letters any // nil for no answer
		want    []string
	}{
		"open": {"acme/crm", backlog, dead, []string{
			"endpoints release acme/crm",
			"endpoints pause acme/crm", "dead replay --endpoint acme/crm --watch",
		}},
		"open, by its id": {"webhook_1", in(api.StateOpen), none, []string{"endpoints pause acme/webhook_1"}},
		"healthy, with letters": {"acme/crm", in(api.StateHealthy), dead, []string{
			"dead replay --endpoint acme/crm --watch", "test acme/crm", "endpoints pause acme/crm",
		}},
		"paused": {"acme/our", in(api.StatePaused), none, []string{"endpoints resume acme/our"}},
		"paused with its tenant": {"acme/crm", ofTenant, none, []string{
			"tenants resume acme",
		}},
		"deleted":  {"acme/crm", in(api.StateDeleted), dead, []string{"dead purge --endpoint acme/crm"}},
		"disabled": {"acme/crm", in(api.StateDisabled), none, nil},
		"no answer about its letters": {"acme/crm", in(api.StateOpen), nil, []string{
			"endpoints pause acme/crm",
		}},
	} {
		c.shown.TenantID, c.shown.EndpointID = "acme", "webhook_1"
		f := fakeOf(to(api.GetEndpoint, c.shown))
		if letters, answered := c.letters.(api.List[api.DeadLetter]); answered {
			f.say(to(api.ListDeadLetters, letters))
		}
		code, _, words := f.play(t, "", "--stack", "prod", "endpoints", "show", c.named)
		got := nextOf(words)
		contains(t, words, warnings[name])
		if code != exit.Done || len(got) != len(c.want) {
			t.Errorf("%s: exit code %d, %q, want %q", name, code, got, c.want)
			continue
		}
		for n, command := range c.want {
			if got[n] != command {
				t.Errorf("%s: %q, want %q", name, got[n], command)
			}
		}
	}
}

// nextOf are the commands that a command says to go on with.
func nextOf(words string) (commands []string) {
	for line := range strings.Lines(words) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "next: herald --stack prod "); ok {
			commands = append(commands, command)
		}
	}
	return commands
}

// A program reads one object, and asks for no more than it shows.
func TestEndpoints_show_asJSONAsksOnce(t *testing.T) {
	f := fakeOf(to(api.GetEndpoint, api.Endpoint{Health: api.Health{State: api.StateOpen}}))
	out := f.ends(t, exit.Done, "-o json endpoints show acme/crm")
	if len(f.requests) != 1 || strings.Contains(out, "next:") {
		t.Errorf("%d requests, %s", len(f.requests), out)
	}
}
