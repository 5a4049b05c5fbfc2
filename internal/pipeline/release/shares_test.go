package release

import (
	"fmt"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Tenants bring themselves among those with a limit at will, and among those that recover by an outage alone. So ten
// that have all endpoints wait for their rate take nothing from a recovery, nor from another's pace.
func TestDivide_keepsTenantsWithLimitsFromTheShareOfOthers(t *testing.T) {
	inAccount(t, func(a *account) {
		now := time.Now()
		one := func(tenant string, n, limit int, state circuit.State) trouble {
			return trouble{
				key:   dynamo.EndpointKey{TenantID: tenant, EndpointID: fmt.Sprint("webhook_", n)},
				facts: circuit.Facts{Limit: limit},
				plan: circuit.Plan{Recover: true, Item: circuit.Item{
					State: state, Since: now, HeldUntil: now.Add(time.Minute), Pace: circuit.Pace{Quota: 240},
				}},
			}
		}
		troubles := []trouble{one("paced", 0, 100, circuit.None)}
		for n := range 50 {
			troubles = append(troubles, one("recovers", n, 0, circuit.Recovering))
			for attacker := range 10 {
				troubles = append(troubles, one(fmt.Sprint("attacker-", attacker), n, 1, circuit.None))
			}
		}
		h := a.handler()
		work := h.workers(now, inventory{}, troubles, circuitWriter{})
		got := map[string]int{}
		for _, o := range []*outflow{work.recoveries, work.paces} {
			for n, quota := range o.divide(o.budget, wantedBy(o)) {
				got[o.searches[n].key.TenantID] += quota
			}
		}
		// A recovery that has sent 240 sends 480 each; a pace takes the slots of 75 seconds.
		for tenant, want := range map[string]int{"paced": 7500, "recovers": h.Settings.Budget, "attacker-3": 50 * 75} {
			if got[tenant] != want {
				a.Errorf("%s gets %d, wanted %d", tenant, got[tenant], want)
			}
		}
	})
}

func wantedBy(o *outflow) (all []int) {
	for _, s := range o.searches {
		all = append(all, o.wanted(s))
	}
	return all
}

// Where more waits than a run may send, tenants with limits get equal shares, whatever number of endpoints they have.
func TestDivide_sharesPacesByTenantBeforeEndpoint(t *testing.T) {
	inAccount(t, func(a *account) {
		var searches []*search
		var wanted []int
		add := func(tenant string, endpoints, each int) {
			for range endpoints {
				searches = append(searches, &search{trouble: trouble{key: dynamo.EndpointKey{TenantID: tenant}}})
				wanted = append(wanted, each)
			}
		}
		add("big", 50, 22_500)
		add("honest", 1, 22_500)
		o := outflow{searches: searches, budget: 30_000, slow: func(string) bool { return false }}
		got := map[string]int{}
		for n, quota := range o.divide(o.budget, wanted) {
			got[searches[n].key.TenantID] += quota
		}
		if got["big"] != 15_000 || got["honest"] != 15_000 {
			a.Errorf("divided as %v", got)
		}
	})
}

// Where calls are too slow for a run to send everything, time is divided by tenant before endpoint as well.
func TestRun_dividesItsTimeAmongTenantsWithLimits(t *testing.T) {
	inAccount(t, func(a *account) {
		a.latency = 100 * time.Millisecond
		add := func(id string, items int) {
			a.held(id, items, rated)
			a.store(id, circuit.None)
			a.limit(id, 100)
		}
		for n := range 50 {
			add(fmt.Sprint("webhook_flood", n, "@flooder"), 400)
		}
		add(hook, 2000)
		a.run()
		flooder := len(a.sent) - a.sentTo()[hook]
		if honest := a.sentTo()[hook]; honest < 1000 {
			a.Errorf("one endpoint is sent %d, and another tenant's fifty %d", honest, flooder)
		}
	})
}

// Places that a tenant with few endpoints leaves are not empty while others have searches for them.
func TestNextTurn_fillsItsPlaces(t *testing.T) {
	for others, want := range map[int]map[string]int{
		1:  {"big": atOnce - 1, "other-0": 1},
		3:  {"big": atOnce - 3, "other-0": 1, "other-1": 1, "other-2": 1},
		20: {"big": 1, "other-0": 1, "other-19": 1},
	} {
		var under []*search
		add := func(tenant string) {
			under = append(under, &search{trouble: trouble{key: dynamo.EndpointKey{TenantID: tenant}}})
		}
		for range 50 {
			add("big")
		}
		for n := range others {
			add(fmt.Sprint("other-", n))
		}
		turn, later := nextTurn(under)
		got := map[string]int{}
		for _, s := range turn {
			got[s.key.TenantID]++
		}
		if len(turn)+len(later) != len(under) || len(got) != 1+others {
			t.Errorf("beside %d: %d of %d tenants in the turn, %d later", others, len(turn), len(got), len(later))
		}
		for tenant, n := range want {
			if got[tenant] != n {
				t.Errorf("beside %d: %d of %s, want %d", others, got[tenant], tenant, n)
			}
		}
	}
}

// A quota is of what a limit lets through, and most of it goes unused where little waits. The rest of a budget goes to
// those that have more.
func TestRun_dividesWhatQuotasLeave(t *testing.T) {
	inAccount(t, func(a *account) {
		for n := range 50 {
			id := fmt.Sprint("webhook_", n, "@tenant-", n)
			a.held(id, 10, rated)
			a.store(id, circuit.None)
			a.limit(id, 100)
		}
		a.held(hook, 7500, rated)
		a.store(hook, circuit.None)
		a.limit(hook, 100)
		if a.run(); a.sentTo()[hook] != 7500 {
			a.Errorf("%d are sent, although others left most of the budget", a.sentTo()[hook])
		}
	})
}

// What other recoveries leave is not offered to queues that take nothing.
func TestRun_givesNoMoreToARecoveryThatNoQueueTakes(t *testing.T) {
	inAccount(t, func(a *account) {
		for id, items := range map[string]int{hook: 100, "webhook_few": 1} {
			a.held(id, items)
			a.store(id, circuit.Recovering)
		}
		a.refuse("RetryQueue")
		h := a.handler()
		h.Settings.Budget = 40
		if err := h.Run(a.Context()); err != nil {
			a.Error(err)
		}
		if calls := a.calls["RetryQueue"]; calls != 2+1 { // of ten messages each, and of the one
			a.Errorf("%d calls", calls)
		}
	})
}
