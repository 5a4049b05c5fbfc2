package model

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/testkit/storetest"
)

func TestStores_keepTheirContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Backend { return backendOf(New()) })
}

func backendOf(m *Model) storetest.Backend {
	p := m.Process("any")
	return storetest.Backend{
		Circuits: p.Circuits(), WithoutNotices: p.Circuits().WithoutNotices(),
		Rates: p.Rates(), Tokens: p.Tokens(),
		Backlog: p.Backlog(), Deliveries: p.Deliveries(), DeadLetters: p.DeadLetters(), Jobs: p.Jobs(),
		APIKeys: p.APIKeys(), Endpoints: p.Endpoints(), AtMostThree: p.Endpoints().Most(3), Reader: p.Reader(false),
		Breaker:    m,
		TestCounts: p.TestCounts(),
		Unheard: func(do func()) {
			m.Judge = func(*Call) Verdict { return Lost }
			do()
			m.Judge = nil
		},
	}
}

// account is RetryQueue as the contract uses it.
type account struct {
	Sender
	Hider
	m *Model
}

func (a account) Receive(testing.TB) []events.SQSMessage {
	a.m.Mu.Lock()
	defer a.m.Mu.Unlock()
	return a.m.RetryQueue.Receive()
}

func (a account) Delete(_ testing.TB, receipt string) {
	a.m.Mu.Lock()
	defer a.m.Mu.Unlock()
	a.m.RetryQueue.Delete(receipt)
}

func TestQueue_keepsItsContract(t *testing.T) {
	for _, p := range storetest.QueuePromises {
		t.Run(p.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := New()
				process := m.Process("any")
				p.Holds(t, account{process.Sender(m.RetryQueue), process.Hider(m.RetryQueue), m})
			})
		})
	}
}

// brokenQueue breaks one promise of a queue.
type brokenQueue struct {
	account
	early, forgets, shares, agrees, drops, refuses, stamps bool
}

func (b brokenQueue) Send(ctx context.Context, messages []queue.Outgoing) []error {
	errs := make([]error, len(messages))
	for n, m := range messages {
		if b.early {
			m.Delay = 0
		}
		if b.forgets {
			delete(m.Attributes, "life")
		}
		if b.stamps { // one trace for all of a call
			m.Trace = messages[1].Trace
		}
		if b.drops && n == 10 || b.refuses && m.Attributes["version"].StringValue == nil {
			continue
		}
		errs[n] = b.account.Send(ctx, []queue.Outgoing{m})[0]
	}
	return errs
}

func (b brokenQueue) ChangeVisibility(ctx context.Context, changes []queue.VisibilityChange) []error {
	errs := b.account.ChangeVisibility(ctx, changes)
	if b.agrees {
		clear(errs)
	}
	return errs
}

func (b brokenQueue) Receive(t testing.TB) []events.SQSMessage {
	received := b.account.Receive(t)
	for _, r := range received {
		if b.shares {
			_ = b.account.ChangeVisibility(t.Context(), []queue.VisibilityChange{{ReceiptHandle: r.ReceiptHandle}})
		}
	}
	return received
}

func TestQueuePromises_noticeAQueueThatBreaksThem(t *testing.T) {
	mutants := map[string]brokenQueue{
		"a message arrives as it was sent":                                       {forgets: true},
		"a message is with one receiver at a time, and its receives are counted": {shares: true},
		"a delay is never early":                                                 {early: true},
		"each change of visibility has an error of its own":                      {agrees: true},
		"many messages are sent, each once":                                      {drops: true, shares: true},
		"each message of a call has its own trace, or none":                      {stamps: true},
		"what cannot be read arrives, too":                                       {refuses: true},
	}
	for _, p := range storetest.QueuePromises {
		synctest.Test(t, func(t *testing.T) {
			m := New()
			process := m.Process("any")
			b, found := mutants[p.Name]
			b.account = account{process.Sender(m.RetryQueue), process.Hider(m.RetryQueue), m}
			broken := storetest.Promise{Holds: func(t testing.TB, _ storetest.Backend) { p.Holds(t, b) }}
			if !found || !breaks(t, broken, storetest.Backend{}) {
				t.Errorf("a queue breaks unseen that %s", p.Name)
			}
		})
	}
}
