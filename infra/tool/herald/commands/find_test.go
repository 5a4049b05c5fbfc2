package commands

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// nowhere are functions that find nothing.
func nowhere() *fake {
	return fakeOf(
		to(api.ListDeliveries, api.DeliveryList{Note: "acknowledged ones were not searched"}),
		to(api.ListDeadLetters, api.List[api.DeadLetter]{}),
		to(api.ListEndpoints, listOf(api.ListedEndpoint{})),
		to(api.ListRejected, api.RejectedList{Result: api.ResultNotFound, Searched: 7}))
}

func TestFind_saysWhatEachPlaceSearchedAndWhatToDo(t *testing.T) {
	f := nowhere()
	f.ends(t, exit.Done, "events find evt_1 --tenant acme", "deliveries: none; acknowledged ones were not searched\n",
		"dead letters: none; all dead letters of the tenant were searched\n",
		"rejected events: none; not found: all 7 were searched\n", "herald events find FILE", `"the deliveries of one event"`)
	want := []sent{
		{"action": "deliveries", "event_id": "evt_1", "tenant_id": "acme"},
		{"action": "dead_letters", "event_id": "evt_1", "tenant_id": "acme", "limit": 100.0},
		{"action": "endpoints", "tenant_id": "acme", "limit": 1.0},
		{"action": "rejected_events", "event_id": "evt_1", "tenant_id": "acme", "limit": 100.0},
	}
	for n := range f.requests {
		delete(f.requests[n], "operator")
	}
	if diff := cmp.Diff(want, f.requests); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	f.say(to(api.ListDeliveries, api.DeliveryList{List: listOf(api.Delivery{DeliveryID: "msg_1", State: delivery.Dead})}),
		to(api.ListDeadLetters, api.List[api.DeadLetter]{
			Data: []api.DeadLetter{{DeliveryID: "msg_1", Status: deadletter.Dead}}, NextCursor: new("more"),
		}),
		to(api.ListRejected, api.RejectedList{Result: api.ResultFound, Searched: 9, List: listOf(
			api.RejectedEvent{MessageID: "m1", EventID: "evt_1", TenantID: "acme", Reason: event.NotProcessed})}))
	out := f.ends(t, exit.Done, "events find evt_1 --tenant acme", "the tenant's 20000 latest dead letters were searched",
		"found among the 9 that were searched", "next: herald dead replay --tenant=acme --event=evt_1 --watch\n",
		"next: herald rejected publish --tenant=acme --event=evt_1 --watch\n")
	contains(t, strings.Join(strings.Fields(out), " "), "m1 acme – evt_1 not_processed yes")
}

// A misspelt tenant has nothing that could be searched.
func TestFind_saysThatATenantHasNoEndpoint(t *testing.T) {
	f := nowhere()
	f.say(to(api.ListEndpoints, listOf[api.ListedEndpoint]()))
	f.ends(t, exit.Done, "events find evt_1 --tenant acmee", "the tenant acmee has no endpoint\n")
	f.say(answered{"inspect endpoints", "<html>"})
	f.ends(t, exit.Done, "events find evt_1 --tenant acmee", "whether the tenant has an endpoint was not answered")
}

func TestFind_leadsToWhatCameOfAReplay(t *testing.T) {
	f := nowhere()
	f.say(to(api.ListDeadLetters, listOf(api.DeadLetter{DeliveryID: "msg_1", Status: deadletter.Replayed})))
	f.ends(t, exit.Done, "events find evt_1 --tenant acme", "next: herald deliveries show msg_1\n")
}

// A place that fails hides no other. What came of a search that was cut short is no "not found".
func TestFind_showsTheOtherPlacesWhereOneFails(t *testing.T) {
	f := nowhere()
	f.say(refusing(api.ListDeadLetters, api.Refusal{Code: api.CodeInvalidField, Field: "event_id", Message: "is odd"}))
	f.ends(t, exit.Usage, "events find evt_1 --tenant acme", "dead letters: not answered\n",
		"rejected events: none; not found: all 7", "event_id: is odd")
	for result, row := range map[api.Result][2]string{
		api.ResultPart:       {"not found among 1000: more wait", "--dry-run rejected publish --event=evt_1"},
		api.ResultPublishing: {"not searched: more wait", "jobs list --state running"},
	} {
		says, leads := row[0], row[1]
		f := nowhere()
		f.say(to(api.ListRejected, api.RejectedList{Result: result, Searched: 1000, Note: "more wait"}))
		f.ends(t, exit.Done, "events find evt_1 --tenant acme", "rejected events: none; "+says)
		_, _, words := f.play(t, "", "--stack", "prod", "events", "find", "evt_1", "--tenant", "acme")
		if diff := cmp.Diff([]string{leads}, nextOf(words)); diff != "" {
			t.Errorf("%s leads to (-want +got):\n%s", result, diff)
		}
		out := f.ends(t, exit.Done, "-o json events find evt_1 --tenant acme")
		var printed struct {
			Rejected struct {
				Result api.Result `json:"result"`
			} `json:"rejected"`
		}
		if err := json.Unmarshal([]byte(out), &printed); err != nil || printed.Rejected.Result != result {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// Whatever is refused while a job works through the rejected events leads to the job.
func TestRejected_leadsToTheJobThatHidesThem(t *testing.T) {
	f := fakeOf(refusing(api.ListRejected, api.Refusal{Code: api.CodePublishing, Message: "the job job_1 works"}))
	f.ends(t, exit.Failed, "rejected list", "refused: the job job_1 works\n", "next: herald jobs list --state running\n")
}

// By its file, an event is found in any state, and its id and tenant need not be typed.
func TestFind_readsWhatItsFileSays(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"event.json": `{"id":"evt_1","tenant_id":"acme","type":"user.deleted","data":{}}`,
		"plain.json": `{"tenant_id":"acme","type":"user.deleted","data":{}}`,
		"other.json": `{"id":"evt_1"}`, "broken.json": `{`,
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, id := range map[string]string{
		"events find event.json": "evt_1", "events find plain.json --event 0b7c": "0b7c",
	} {
		f := nowhere()
		f.say(to(api.ListDeliveries, api.DeliveryList{List: listOf(api.Delivery{State: delivery.Acknowledged})}))
		f.ends(t, exit.Done, line, "deliveries: all that have records\n", "acknowledged")
		if f.requests[0]["event"] == nil {
			t.Errorf("%s asks %v", line, f.requests[0])
		}
		for _, r := range f.requests[1:] {
			if r["event_id"] != id && r["action"] != api.ListEndpoints.Name || r["tenant_id"] != "acme" {
				t.Errorf("%s asks %v", line, r)
			}
		}
	}
	for line, says := range map[string]string{
		"events find plain.json":                       "give that of its SQS message as --event",
		"events find other.json":                       "the file is no event",
		"events find broken.json":                      "not a JSON object",
		"events find evt_1":                            "with the id of an event, give its --tenant",
		"events find":                                  "give one argument, ID|FILE",
		"events find evt_1 --trace 4bf9 --tenant acme": "either an event or --trace",
		"events find --trace 4bf9":                     "--tenant is required with --trace",
		"events find evt_1 evt_2 --tenant acme":        "give one argument",
		"events find --tenant acme":                    "give one argument",
	} {
		f := nowhere()
		f.ends(t, exit.Usage, line, says)
		if f.sought {
			t.Errorf("%s looks for a stack", line)
		}
	}
}

func TestFind_saysThatATraceLeavesOutWhatWasAcknowledged(t *testing.T) {
	f := fakeOf(to(api.ListDeliveries, api.DeliveryList{Note: `the saved query "the deliveries of one trace"`}))
	f.ends(t, exit.Done, "events find --trace 4bf9 --tenant acme", `note: the saved query "the deliveries of one trace"`)
	if r := f.requests[0]; r["trace_id"] != "4bf9" || r["tenant_id"] != "acme" || len(f.requests) != 1 {
		t.Errorf("asked %v", f.requests)
	}
	f.ends(t, exit.Done, "events find --help", "finds unacknowledged deliveries alone")
}

func TestFind_quotesWhatItSuggests(t *testing.T) {
	f := nowhere()
	f.say(to(api.ListDeadLetters, listOf(api.DeadLetter{DeliveryID: "msg_1", Status: deadletter.Dead})))
	_, _, words := f.play(t, "", "events", "find", "--tenant", "a b", "--", "x; rm -rf ~ $(id)\u202e")
	contains(t, words, `dead replay --tenant="a b" --event='x; rm -rf ~ $(id)`)
	if strings.Contains(words, "\u202e") {
		t.Errorf("a text steers the terminal: %q", words)
	}
}
