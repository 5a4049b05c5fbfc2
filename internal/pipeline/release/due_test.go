package release

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

// A dead letter that names a reason was sent by Herald, so a message to RetryQueue names none.
func TestRun_sendsWhatIsDueAsItWasStored(t *testing.T) {
	inAccount(t, func(a *account) {
		late := a.due(hook, -time.Minute)
		soon := a.due(hook, 100*time.Second)
		later := a.due(hook, 181*time.Second)
		a.store(hook, circuit.Open, func(i *circuit.Item) { i.ProbedAt = i.Since }) // deliver decides about that
		a.run()
		of := func(i backlog.Item, delay time.Duration) message {
			life := i.Message.Life
			life.Reason, life.Status = "", 0
			return message{
				ID: i.Message.DeliveryID, Endpoint: hook, Group: acme, Attempts: "5", Delay: delay,
				Life: life, Body: string(i.Message.Body), At: time.Now(),
			}
		}
		want := []message{of(late, -time.Minute), of(soon, 100*time.Second)}
		order := cmpopts.SortSlices(func(a, b message) bool { return a.ID < b.ID })
		if diff := cmp.Diff(want, a.sent, order, cmpopts.EquateApproxTime(time.Millisecond)); diff != "" {
			a.Errorf("sent (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(idsOf(later), a.left(hook)); diff != "" {
			a.Errorf("waits (-want +got)\n%s", diff)
		}
		a.logged(`"BacklogLateSeconds":[60]`, `"Released":[2]`, `"due":2`, `"Runs":[1]`)
	})
}

// The end of the life of something held, by the state of its endpoint then. internal/rules/endpoint has the order of
// the answers where several are true.
func TestRun_ofALifeThatIsOver(t *testing.T) {
	type end struct {
		Sent, Left int
		Dead       delivery.Reason
		Record     delivery.Reason
	}
	type row struct {
		state  circuit.State
		change func(*endpoint.Endpoint)
		blind  bool // the circuit cannot be read
		broken bool // nor the row
		want   end
	}
	inAccounts(t, map[string]row{
		"open":           {state: circuit.Open, want: end{Dead: delivery.ReasonCircuitOpen}},
		"failing":        {state: circuit.Failing, want: end{Sent: 1}},
		"paused":         {change: paused, want: end{Dead: delivery.ReasonEndpointPaused}},
		"gone":           {state: circuit.Open, change: deleted, want: end{Record: delivery.ReasonEndpointDeleted}},
		"discarded":      {state: circuit.Open, change: discards, want: end{Record: delivery.ReasonDiscarded}},
		"circuit unread": {state: circuit.Open, blind: true, want: end{Left: 1}},
		"row unreadable": {state: circuit.Open, broken: true, want: end{Left: 1}},
	}, func(a *account, _ string, row row) {
		i := a.held(hook, 1, func(i *backlog.Item) { i.DueAt = time.Now().Add(time.Minute) })[0]
		a.store(hook, row.state, func(i *circuit.Item) { i.ProbedAt, i.RecoveredAt = i.Since, i.Since })
		a.run()
		if len(a.sent)+len(a.buried)+len(a.States) > 0 {
			a.Fatalf("something went before its time: %+v, %+v, %+v", a.sent, a.buried, a.States)
		}
		time.Sleep(time.Minute)
		if row.change != nil {
			a.change(hook, row.change)
		}
		a.refuses = func(call string, _ backlog.Key) bool {
			return row.blind && call == "Circuit" || row.broken && call == "RowOf"
		}
		c := a.Circuits[hook]
		c.ProbedAt = time.Now()
		a.Circuits[hook] = c
		a.run()
		got := end{Sent: len(a.sent), Left: len(a.left(hook)), Record: a.States[i.Message.DeliveryID].Reason}
		if row.broken {
			a.logged(`"action":"burying","fault":"internal"`)
		}
		for _, m := range a.buried {
			got.Dead = m.Life.Reason
			if m.Life.Status != 503 || m.Attempts != "5" {
				a.Errorf("the dead letter says %+v", m)
			}
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			a.Errorf("(-want +got)\n%s\n%s", diff, a.logs.String())
		}
	})
}

// After its last place, a delivery that DeadLetterQueue refused waits in Backlog. It becomes a dead letter in any state
// of its endpoint, unless it is no longer wanted.
func TestRun_ofAScheduleThatIsOver(t *testing.T) {
	type end struct{ Dead, Record delivery.Reason }
	died := end{Dead: delivery.ReasonHTTP5xx}
	inAccounts(t, map[string]struct {
		change func(*endpoint.Endpoint)
		broken bool
		want   end
	}{
		"active":         {change: func(*endpoint.Endpoint) {}, want: died},
		"paused":         {change: paused, want: died},
		"gone":           {change: deleted, want: end{Record: delivery.ReasonEndpointDeleted}},
		"discarded":      {change: discards, want: end{Record: delivery.ReasonDiscarded}},
		"unsubscribed":   {change: unsubscribes, want: end{Record: delivery.ReasonUnsubscribed}},
		"gone, unread":   {change: deleted, broken: true, want: died},
		"active, unread": {change: func(*endpoint.Endpoint) {}, broken: true, want: died},
	}, func(a *account, _ string, row struct {
		change func(*endpoint.Endpoint)
		broken bool
		want   end
	}) {
		i := a.due(hook, 0, func(i *backlog.Item) {
			i.Message.Attempts, i.Message.Life.Reason = 10, delivery.ReasonHTTP5xx
		})
		time.Sleep(time.Minute)
		a.change(hook, row.change)
		a.refuses = func(call string, _ backlog.Key) bool { return row.broken && call == "RowOf" }
		a.run()
		got := end{Record: a.States[i.Message.DeliveryID].Reason}
		for _, m := range a.buried {
			got.Dead = m.Life.Reason
		}
		if diff := cmp.Diff(row.want, got); diff != "" || len(a.sent)+len(a.left(hook)) != 0 {
			a.Errorf("%d sent, %d left (-want +got)\n%s\n%s", len(a.sent), len(a.left(hook)), diff, a.logs.String())
		}
	})
}

// The index lags behind the table: an item that it lists as due may by now wait for a later time.
func TestRun_sendsNothingBeforeTheTimeThatTheTableTells(t *testing.T) {
	inAccount(t, func(a *account) {
		i := a.due(hook, -time.Minute)
		a.Backlog.Lag = time.Minute
		i.DueAt = time.Now().Add(10 * time.Minute)
		a.Backlog.PutBack(i, time.Now())
		a.run()
		if len(a.sent) > 0 || len(a.left(hook)) != 1 {
			a.Errorf("sent %+v", a.sent)
		}
	})
}

// What dies is buried behind what is to be sent, and is read once for it: the index tells that it dies.
//
// Threat of a tenant: has all held deliveries die at once. Held by: they are buried behind what is due, tenants in
// turn ([figures](capacity.md#deaths)).
func TestRun_sendsWhatIsDueBeforeItBuriesWhatDies(t *testing.T) {
	inAccount(t, func(a *account) {
		const dying, due = 2000, 20
		over := func(i *backlog.Item) { i.DueAt = time.Now().Add(-time.Minute) }
		for n := range 50 {
			a.held(fmt.Sprint("webhook_", n, "@flooder"), dying/50, over)
			a.change(fmt.Sprint("webhook_", n, "@flooder"), paused)
		}
		for range due {
			a.due(hook, 0)
		}
		a.latency = 10 * time.Millisecond
		a.run()
		if len(a.sent) != due || len(a.buried) != dying {
			a.Fatalf("%d sent, %d buried", len(a.sent), len(a.buried))
		}
		if last := a.sent[due-1].At; !last.Before(a.buried[0].At) {
			a.Errorf("the last was sent %s behind the first burial", last.Sub(a.buried[0].At))
		}
		if most := (dying+due)/pageSize + 2*backlog.DueShards; a.calls["BatchGet"] > most {
			a.Errorf("%d reads, wanted at most %d", a.calls["BatchGet"], most)
		}
	})
}

// A flood of deaths leaves other tenants' deaths their share of what a run remembers.
func TestKept_keepsEveryTenantsEarliest(t *testing.T) {
	var over []dynamo.Due
	add := func(tenant string, second int) {
		over = kept(over, dynamo.Due{TenantID: tenant, DueAt: time.Unix(int64(second), 0)})
	}
	for n := range 3 * maxOver {
		add("flooder", n)
	}
	for n := range 10 {
		add("other", 3*maxOver+n)
	}
	for n := range 3 * maxOver {
		add("flooder", 4*maxOver+n)
	}
	others, first := 0, false
	for _, key := range over {
		if key.TenantID == "other" {
			others++
		}
		first = first || key.DueAt.Equal(time.Unix(0, 0))
	}
	if others != 10 || !first || len(over) >= 2*maxOver {
		t.Errorf("of %d keys %d are another tenant's, and the earliest is there: %t", len(over), others, first)
	}
}

func disabled(e *endpoint.Endpoint) { e.Status = endpoint.Disabled }
func deleted(e *endpoint.Endpoint)  { e.Status = endpoint.Deleted }
func paused(e *endpoint.Endpoint)   { e.Marks.PausedAt = time.Now() }

func discards(e *endpoint.Endpoint)     { e.Marks.DiscardedBefore = time.Now() }
func unsubscribes(e *endpoint.Endpoint) { e.Events = []string{"user.deleted"} }

// With calls of AWS that take 12 ms.
func TestRun_sendsTwoThousandASecond(t *testing.T) {
	inAccount(t, func(a *account) {
		const endpoints, each = 1000, 40
		a.latency = 12 * time.Millisecond
		for range each {
			for n := range endpoints {
				a.due(fmt.Sprintf("webhook_%d", n), 0)
			}
		}
		took := a.run()
		if rate := float64(len(a.sent)) / took.Seconds(); rate < 2000 || len(a.sent) != endpoints*each {
			a.Errorf("%d in %s, %.0f a second", len(a.sent), took, rate)
		}
	})
}
