package endpoint_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/retry"
)

// began is the beginning of the life of the delivery in question.
var began = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// circumstance is one thing that may be so, and the answer if nothing else were in the way.
type circumstance struct {
	name   string
	apply  func(g *endpoint.Gate, d *endpoint.Delivery)
	answer endpoint.Admission
}

// as is a circumstance of the endpoint or of its tenant, and of is one of the delivery.
func as(name string, apply func(g *endpoint.Gate), answer endpoint.Admission) circumstance {
	return circumstance{name, func(g *endpoint.Gate, _ *endpoint.Delivery) { apply(g) }, answer}
}

func of(name string, apply func(d *endpoint.Delivery), answer endpoint.Admission) circumstance {
	return circumstance{name, func(_ *endpoint.Gate, d *endpoint.Delivery) { apply(d) }, answer}
}

// typed gives a delivery its type, and its endpoint the selected types.
func typed(name, eventType string, answer endpoint.Admission, selected ...string) circumstance {
	return circumstance{name, func(g *endpoint.Gate, d *endpoint.Delivery) {
		g.Endpoint.Events = selected
		d.EventType = []byte(eventType)
	}, answer}
}

// circuited is a circuit in a state since a minute, and an attempt under a claim that is so old.
func circuited(name string, state circuit.State, claimed time.Duration, answer endpoint.Admission) circumstance {
	return circumstance{name, func(g *endpoint.Gate, d *endpoint.Delivery) {
		g.Circuit = circuit.Item{State: state, Since: began.Add(-time.Minute)}
		if claimed > 0 {
			d.Probe = began.Add(-claimed)
		}
	}, answer}
}

// limited is a delivery that got no slot of the limit of its endpoint.
func limited(name string, limit int, answer endpoint.Admission) circumstance {
	return circumstance{name, func(g *endpoint.Gate, d *endpoint.Delivery) {
		g.Endpoint.RateLimit = limit
		d.NoSlot = true
	}, answer}
}

func status(s endpoint.Status) func(g *endpoint.Gate) {
	return func(g *endpoint.Gate) {
		g.Found = true
		g.Endpoint.Status = s
	}
}

func discards(own, tenant time.Time) func(g *endpoint.Gate) {
	return func(g *endpoint.Gate) {
		g.Endpoint.Marks.DiscardedBefore = own
		g.Tenant.DiscardedBefore = tenant
	}
}

func pauses(own, tenant time.Time) func(g *endpoint.Gate) {
	return func(g *endpoint.Gate) {
		g.Endpoint.Marks.PausedAt = own
		g.Tenant.PausedAt = tenant
	}
}

// The circumstances, by kind: of each kind one holds.
var (
	never, later = time.Time{}, began.Add(time.Millisecond)

	rows = []circumstance{
		as("an active endpoint", status(endpoint.Active), endpoint.Free),
		as("one that its owner has disabled", status(endpoint.Disabled), endpoint.DisabledByOwner),
		as("a deleted one", status(endpoint.Deleted), endpoint.Gone),
		as("one that was never there", func(*endpoint.Gate) {}, endpoint.Gone),
	}
	stops = []circumstance{
		as("not paused", pauses(never, never), endpoint.Free),
		as("paused", pauses(began, never), endpoint.PausedByOperator),
		as("of a paused tenant", pauses(never, began), endpoint.PausedByOperator),
		as("paused, and its tenant is", pauses(began, began), endpoint.PausedByOperator),
	}
	orders = []circumstance{
		as("never discarded", discards(never, never), endpoint.Free),
		as("what began before it is discarded", discards(began, began), endpoint.Free),
		as("discarded", discards(later, never), endpoint.Discarded),
		as("discarded with all of its tenant's", discards(began, later), endpoint.Discarded),
		as("discarded, and the tenant's older ones", discards(later, began), endpoint.Discarded),
	}
	subscriptions = []circumstance{
		typed("selected by name", "user.created", endpoint.Free, "user.deleted", "user.created"),
		typed("selected by a pattern", "user.created", endpoint.Free, "user.*"),
		typed("no longer selected", "user.created", endpoint.Unsubscribed, "user.deleted", "organization.*"),
		typed("of subscriptions that were not read", "user.created", endpoint.Free),
		typed("a test, which nothing selects", delivery.TestType, endpoint.Free, "user.deleted"),
		typed("of a type that this release lacks", "vault.sealed", endpoint.Free, "user.deleted"),
		typed("of a type that cannot be read", "", endpoint.Free, "user.deleted"),
	}
	places = []circumstance{
		of("at its first place", func(d *endpoint.Delivery) { d.Attempts = 0 }, endpoint.Free),
		of("at its last place", func(d *endpoint.Delivery) { d.Attempts = 9 }, endpoint.Free),
		of("with all its places used", func(d *endpoint.Delivery) { d.Attempts = 10 }, endpoint.PlacesUsed),
		of("with more used than there are now", func(d *endpoint.Delivery) { d.Attempts = 11 }, endpoint.PlacesUsed),
	}
	slots = []circumstance{
		of("with a slot", func(d *endpoint.Delivery) { d.NoSlot = false }, endpoint.Free),
		limited("without a slot", 1, endpoint.WaitsForRate),
	}
	circuits = []circumstance{
		circuited("healthy", circuit.None, 0, endpoint.Free),
		circuited("failing", circuit.Failing, 0, endpoint.Free),
		circuited("recovering", circuit.Recovering, 0, endpoint.Free),
		circuited("open", circuit.Open, 0, endpoint.CircuitOpen),
		circuited("open, and this is its probe", circuit.Open, time.Second, endpoint.Free),
		circuited("open, and this was a probe of the opening before", circuit.Open, time.Hour, endpoint.CircuitOpen),
	}
)

// combinations are all combinations of one circumstance of each kind.
func combinations(kinds ...[]circumstance) [][]circumstance {
	all := [][]circumstance{nil}
	for _, kind := range kinds {
		var longer [][]circumstance
		for _, some := range all {
			for _, c := range kind {
				longer = append(longer, append(some[:len(some):len(some)], c))
			}
		}
		all = longer
	}
	return all
}

// asked applies circumstances, and returns their names. strongest is the last of their answers in the order of the
// answers.
func asked(some []circumstance) (g endpoint.Gate, d endpoint.Delivery, names string, strongest endpoint.Admission) {
	d = endpoint.Delivery{StartedAt: began, Places: 10}
	for _, c := range some {
		c.apply(&g, &d)
		names += c.name + "; "
		strongest = max(strongest, c.answer)
	}
	return g, d, names, strongest
}

// Whatever comes together, the strongest reason is the answer.
func TestGate_Admits_byTheStrongestReason(t *testing.T) {
	for _, some := range combinations(rows, stops, orders, subscriptions, places, circuits, slots) {
		g, d, names, want := asked(some)
		if got := g.Admits(d); got != want {
			t.Fatalf("%s%s, want %s", names, words[got].answer, words[want].answer)
		}
	}
}

// About the endpoint alone, a probe says nothing.
func TestGate_AdmitsAny_byTheEndpointAlone(t *testing.T) {
	for _, some := range combinations(rows, stops, orders, circuits) {
		g, _, names, _ := asked(some)
		_, _, _, want := asked(some[:2])
		if g.Circuit.State == circuit.Open {
			want = max(want, endpoint.CircuitOpen)
		}
		if got := g.AdmitsAny(); got != want {
			t.Fatalf("%s%s, want %s", names, words[got].answer, words[want].answer)
		}
	}
}

// Deliveries wait for slots of the endpoint: that is its state, and no reason to refuse the next one.
func TestGate_AdmitsAny_tellsThatDeliveriesWaitForTheirRate(t *testing.T) {
	paced := circuit.Pace{Quota: 750, Oldest: began}
	for name, row := range map[string]struct {
		item  circuit.Item
		limit int
		want  endpoint.Admission
	}{
		"some wait":            {circuit.Item{Pace: paced}, 10, endpoint.WaitsForRate},
		"some wait, some fail": {circuit.Item{State: circuit.Failing, Pace: paced}, 10, endpoint.WaitsForRate},
		"it recovers":          {circuit.Item{State: circuit.Recovering, Pace: paced}, 10, endpoint.Free},
		"its circuit is open":  {circuit.Item{State: circuit.Open}, 10, endpoint.CircuitOpen},
		"the limit is gone":    {circuit.Item{Pace: paced}, 0, endpoint.Free},
		"none waits":           {circuit.Item{}, 10, endpoint.Free},
	} {
		g := endpoint.Gate{Found: true, Circuit: row.item}
		g.Endpoint.Status = endpoint.Active
		g.Endpoint.RateLimit = row.limit
		if got := g.AdmitsAny(); got != row.want {
			t.Errorf("%s: %s, want %s", name, words[got].answer, words[row.want].answer)
		}
		if got := g.Admits(endpoint.Delivery{Places: 10, NoSlot: true}); row.limit == 0 && got != row.want {
			t.Errorf("%s: without a slot a delivery is %s", name, words[got].answer)
		}
		if got := g.Admits(endpoint.Delivery{Places: 10}); row.want == endpoint.WaitsForRate && got != endpoint.Free {
			t.Errorf("%s: a delivery is %s", name, words[got].answer)
		}
	}
}

func TestDeliveryOf_readsTheBodysType(t *testing.T) {
	m := delivery.Message{
		Attempts: 3, Life: delivery.Life{StartedAt: began, Probe: began},
		Body: []byte(`{"type":"user.created","data":{}}`),
	}
	want := endpoint.Delivery{StartedAt: began, EventType: []byte("user.created"), Attempts: 3, Places: 10}
	schedule := retry.Schedule{MaxRetries: 9}
	if diff := cmp.Diff(want, endpoint.DeliveryOf(&m, schedule)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	m.Body, want.EventType = []byte(`{"data":{}}`), nil
	if diff := cmp.Diff(want, endpoint.DeliveryOf(&m, schedule)); diff != "" {
		t.Errorf("without a type (-want +got)\n%s", diff)
	}
	asked := delivery.NewTest(delivery.Ref{}, "user.created", "{}")
	if got := endpoint.DeliveryOf(&asked, schedule).EventType; got != nil {
		t.Errorf("a test is of type %s, which an endpoint may not select", got)
	}
}

// words are the answers as infra/docs/design.md has them.
var words = map[endpoint.Admission]struct{ answer, where string }{
	endpoint.Gone:             {"gone", "its endpoint is deleted, or was never there"},
	endpoint.Discarded:        {"discarded", "its life began before an operator's order to discard"},
	endpoint.Unsubscribed:     {"unsubscribed", "the owner no longer selects its type; never a test"},
	endpoint.PlacesUsed:       {"over", "all places of its schedule are used"},
	endpoint.PausedByOperator: {"stopped", "an operator has paused the endpoint or its tenant"},
	endpoint.DisabledByOwner:  {"disabled", "the owner has disabled the endpoint"},
	endpoint.CircuitOpen:      {"open", "the circuit is open, and it is no probe"},
	endpoint.WaitsForRate:     {"rated", "its endpoint has a limit, which leaves no slot now"},
	endpoint.Free:             {"free", "none of these"},
}

// The table of infra/docs/design.md, "May it be sent now?", is drawn from the answers.
func TestAdmission_isTheTableOfTheDesign(t *testing.T) {
	table := "| answer | where | the delivery | reason |\n|---|---|---|---|\n"
	for answer := endpoint.Gone; answer >= endpoint.Free; answer-- {
		fate := "is held"
		switch {
		case answer.Drops():
			fate = "is dropped"
		case answer.Stops():
			fate = "is held, without probes"
		case answer == endpoint.PlacesUsed:
			fate = "is dead"
		case answer == endpoint.Free:
			fate = "is sent"
		}
		reason := ""
		if answer.Reason() != "" {
			reason = "`" + string(answer.Reason()) + "` "
		}
		table += "| " + words[answer].answer + " | " + words[answer].where + " | " + fate + " | " + reason + "|\n"
	}
	doc, err := os.ReadFile("../../../infra/docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), table) {
		t.Errorf("infra/docs/design.md lacks the table\n%s", table)
	}
}
