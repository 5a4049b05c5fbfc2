package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/event"
)

func TestPlan_followsFromTheSeedAndHasThreeTenantsTenEndpointsAndAllLetters(t *testing.T) {
	all := cmp.AllowUnexported(plan{}, endpoint{})
	for seed := range uint64(50) {
		p := newPlan(seed, 1200)
		if !cmp.Equal(p, newPlan(seed, 1200), all) || cmp.Equal(p, newPlan(seed+1, 1200), all) {
			t.Errorf("seed %d makes two incidents, or the next seed the same", seed)
		}
		letters, types := 0, map[string]bool{}
		for _, e := range p.endpoints {
			letters += e.letters
			types[e.tenant+e.event] = true
		}
		if letters != 1200 || len(p.tenants) != 3 || len(types) != 10 {
			t.Errorf("seed %d: %d letters, %d tenants, %d endpoints with a type of their own",
				seed, letters, len(p.tenants), len(types))
		}
	}
}

func TestPlan_rejectsThirteenEventsOfTwoKinds(t *testing.T) {
	p := newPlan(1, 1200)
	invalid, unprocessed := p.rejected()
	if len(invalid)+len(unprocessed) != 13 || len(invalid) != p.invalid {
		t.Errorf("%d and %d events, want %d of 13", len(invalid), len(unprocessed), p.invalid)
	}
	for n, m := range append(invalid, unprocessed...) {
		body, err := m.Body()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := event.Decode([]byte(body), "message"); (err == nil) != (n >= p.invalid) {
			t.Errorf("event %d, %v: %s", n, err, body)
		}
	}
}

func TestParty_answersAsItsKindDoes(t *testing.T) {
	for k, want := range map[kind][3]int{ // three attempts of one delivery
		healthy: {200, 200, 200}, recovered: {200, 200, 200}, slow: {200, 200, 200},
		down: {503, 503, 503}, rejecting: {400, 400, 400}, flapping: {502, 200, 502},
	} {
		p := party{endpoint: endpoint{kind: k}, failed: map[string]bool{}}
		var got [3]int
		for n := range got {
			got[n] = p.answer("msg_1")
		}
		if got != want {
			t.Errorf("%s: %v, want %v", k, got, want)
		}
	}
}

func TestProgress_saysWhatItWaitsFor(t *testing.T) {
	for want, n := range map[string][3]int{
		"7 of 12 deliveries are dead":                                  {7, 12, 4},
		"12 of 12 deliveries are dead; waiting for 4 circuits to open": {12, 12, 4},
		"12 of 12 deliveries are dead":                                 {13, 12, 0},
	} {
		if got := progress(n[0], n[1], n[2]); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}
