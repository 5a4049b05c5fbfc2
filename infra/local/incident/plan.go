package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

// kind is how an endpoint behaves.
type kind string

const (
	healthy   kind = "healthy"   // acknowledges everything
	recovered kind = "recovered" // acknowledges everything by now
	down      kind = "down"      // answers 503
	rejecting kind = "rejecting" // answers 400
	slow      kind = "slow"      // acknowledges late
	flapping  kind = "flapping"  // answers 502 to every other attempt
)

// endpoint is one endpoint of the incident.
type endpoint struct {
	tenant, description string
	kind                kind
	event               string // the type that it subscribes to, and no other endpoint of its tenant
	letters             int    // dead letters that it has
}

// plan is an incident. Everything in it follows from the seed.
type plan struct {
	seed      uint64
	tenants   []string
	endpoints []endpoint
	invalid   int // rejected events that break a rule of publishing
}

const rejectedEvents = 13

// newPlan makes the incident of the seed, with so many dead letters.
func newPlan(seed uint64, letters int) plan {
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same incident for the same seed is wanted
	tenants := slices.Clone(receiver.Tenants)
	names := []string{
		"audit log", "billing", "chat bot", "crm", "data warehouse", "licences", "mailing list", "search", "support desk",
		"usage reports",
	}
	types := examples.Choose("user.created", "user.updated", "user.banned", "organization.updated")
	shuffle(r, tenants)
	shuffle(r, names)
	p := plan{seed: seed, invalid: 4 + r.IntN(4)}
	for _, name := range tenants[:3] {
		p.tenants = append(p.tenants, fmt.Sprintf("%s_%d", name, seed))
	}
	for n, k := range []kind{
		slow, down, rejecting, healthy, recovered, flapping, healthy, recovered, rejecting, down,
	} {
		p.endpoints = append(p.endpoints, endpoint{
			tenant: p.tenants[n%3], description: names[n], kind: k, event: types[n/3],
		})
	}
	p.share(r, letters)
	return p
}

func shuffle(r *rand.Rand, s []string) { r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] }) }

// share divides the dead letters at random among the endpoints that are not healthy.
func (p *plan) share(r *rand.Rand, letters int) {
	for letters > 0 {
		if n := r.IntN(len(p.endpoints)); p.endpoints[n].kind != healthy {
			p.endpoints[n].letters++
			letters--
		}
	}
}

// message is the endpoint's nth event of this name.
func (p plan) message(e endpoint, name string, n int) examples.Message {
	id := fmt.Sprintf("%s_%s_%s_%d", e.tenant, e.event, name, n)
	m := examples.Message{
		ID: "evt_" + id, TenantID: e.tenant, Type: e.event, Data: jsontext.Value(fmt.Sprintf(`{"userId":"user_%s"}`, id)),
	}
	if t, found := catalogue.Find(e.event); found && !catalogue.Specified(e.event) {
		m.Data = jsontext.Value(t.Example)
	}
	return m
}

// traffic is the number of events that an endpoint gets while the operator is called. A failing endpoint gets enough to
// open its circuit at the second attempt.
func (e endpoint) traffic() int {
	if e.kind == down || e.kind == rejecting {
		return 30
	}
	return 12
}

// rejected are the events that fanout refuses, and the ones that it could not process.
func (p plan) rejected() (invalid, unprocessed []examples.Message) {
	for n := range rejectedEvents {
		m := p.message(p.endpoints[n%len(p.endpoints)], "late", n)
		if n < p.invalid {
			m.Type = "user.renamed"
			if event.Known(m.Type) {
				m.Type = examples.Unknown
			}
			invalid = append(invalid, m)
		} else {
			unprocessed = append(unprocessed, m)
		}
	}
	return invalid, unprocessed
}
