package model

import (
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/storetest"
)

func TestStores_keepTheirContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Backend { return backendOf(New()) })
}

func backendOf(m *Model) storetest.Backend {
	p := m.Process("any")
	return storetest.Backend{
		Circuits: p.Circuits(), WithoutNotices: p.Circuits().WithoutNotices(),
		Backlog: p.Backlog(), Deliveries: p.Deliveries(), DeadLetters: p.DeadLetters(), Jobs: p.Jobs(),
		APIKeys: p.APIKeys(), Endpoints: p.Endpoints(), Reader: p.Reader(false), Breaker: m,
		Unheard: func(do func()) {
			m.Judge = func(*Call) Verdict { return Lost }
			do()
			m.Judge = nil
		},
	}
}
