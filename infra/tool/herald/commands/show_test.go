package commands

import (
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

func TestShow_keepsBodiesReadable(t *testing.T) {
	f := &fake{answers: map[string]string{"inspect dead_letter": `{"body":"{\r\n\t\"a\": \"\u001b[2J\"\n}",
		"history":[{"attempts":6,"reason":"http_\u001b5xx"},{"attempts":1}],"scopes":["a","b"]}`}}
	f.ends(t, exit.Done, "dead show msg_1", `body     {\r\n\t"a": "`+"\uFFFD"+`[2J"\n}`+"\n",
		`history  {"attempts":6,"reason":"http_\u001b5xx"}, {"attempts":1}`+"\n", "scopes   a, b\n")
}

func TestTable_hasNoStatusWhereThereWasNoResponse(t *testing.T) {
	f := &fake{answers: map[string]string{"inspect deliveries": `{"data":[
		{"attempts":7,"last_status":0,"reason":"dns"},{"attempts":0,"last_status":503,"reason":"http_5xx"}]}`}}
	out := f.ends(t, exit.Done, "deliveries find --endpoint webhook_1")
	contains(t, strings.Join(strings.Fields(out), " "), "7 – dns", "0 503 http_5xx")
	f.ends(t, exit.Done, "-o json deliveries find --endpoint webhook_1", `"last_status": 0`)
}

// The console offers the same acts, by the same package. An id or name is typed only once: into show.
func TestEndpoints_show_namesTheNextCommands(t *testing.T) {
	const dead = `{"data":[{"delivery_id":"msg_1"}],"next_cursor":null}`
	const none = `{"data":[],"next_cursor":null}`
	warnings := map[string]string{
		"open":                   "Sending what waits makes 30 deliveries at once",
		"paused with its tenant": "This is a pause of the whole tenant.\nnext: ",
	}
	for name, c := range map[string]struct {
		named, state, letters string
		want                  []string
	}{
		"open": {"acme/crm", `"health":{"state":"open"},"waiting":{"count":30}`, dead, []string{
			"endpoints release acme/crm",
			"endpoints pause acme/crm", "dead replay --endpoint acme/crm --watch",
		}},
		"open, by its id": {"webhook_1", `"health":{"state":"open"}`, none, []string{"endpoints pause acme/webhook_1"}},
		"healthy, with letters": {"acme/crm", `"health":{"state":"healthy"}`, dead, []string{
			"dead replay --endpoint acme/crm --watch", "test acme/crm", "endpoints pause acme/crm",
		}},
		"paused": {"acme/our", `"health":{"state":"paused"}`, none, []string{"endpoints resume acme/our"}},
		"paused with its tenant": {"acme/crm", `"health":{"state":"paused"},"tenant_paused":true`, none, []string{
			"tenants resume acme",
		}},
		"deleted":  {"acme/crm", `"health":{"state":"deleted"}`, dead, []string{"dead purge --endpoint acme/crm"}},
		"disabled": {"acme/crm", `"health":{"state":"disabled"}`, none, nil},
		"no answer about its letters": {"acme/crm", `"health":{"state":"open"}`, "", []string{
			"endpoints pause acme/crm",
		}},
	} {
		f := &fake{answers: map[string]string{
			"inspect endpoint": `{"tenant_id":"acme","endpoint_id":"webhook_1",` + c.state + `}`,
		}}
		if c.letters != "" {
			f.answers["inspect dead_letters"] = c.letters
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
	f := &fake{answers: map[string]string{"inspect endpoint": `{"health":{"state":"open"}}`}}
	out := f.ends(t, exit.Done, "-o json endpoints show acme/crm")
	if len(f.requests) != 1 || strings.Contains(out, "next") {
		t.Errorf("%d requests, %s", len(f.requests), out)
	}
}
