// Package storetest is the contract of Herald's stores: for each store the promises that the handlers stand on, as
// tests that take any backend.
//
// It promises that a passing backend behaves, call by call, like the tables in DynamoDB: which write replaces which,
// which values only grow, how a lost answer is treated, the order and the pages of lists, and unreadable rows. Package
// model passes it, and package dynamo on each engine. It never looks behind a store. The tests of package dynamo cover
// the rest, such as the number of calls, consistent reads and unprocessed rests.
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Backend is an empty set of tables.
type Backend struct {
	Circuits       Circuits
	WithoutNotices interface { // the circuits as deliver has them
		Store(ctx context.Context, was, next circuit.Item) (stored circuit.Item, applied bool, err error)
	}
	Rates       Rates
	Tokens      Tokens
	Backlog     Backlog
	Deliveries  Deliveries
	TestCounts  TestCounts
	DeadLetters DeadLetters
	Jobs        Jobs
	APIKeys     APIKeys
	Endpoints   Endpoints
	AtMostThree Endpoints // the same endpoints, where a tenant may have three that are live
	Reader      Reader

	// Unheard runs do, and loses every answer to a write in it: the write happens, and its caller hears of a fault.
	Unheard func(do func())
	Breaker Breaker
}

// Breaker makes stored items unreadable, as those of a later release are.
type Breaker interface {
	BreakCircuit(endpointID string)
	BreakWaiting(key backlog.Key)
	BreakDelivery(id string)
	BreakLetter(id string)
	BreakEndpoint(key dynamo.EndpointKey)
	BreakMarks(tenantID string)
}

// Promise is one promise of a store.
type Promise struct {
	Name  string
	Holds func(t testing.TB, b Backend)
}

// Promises are all promises, by store.
func Promises() map[string][]Promise {
	return map[string][]Promise{
		"Circuits": circuitPromises, "Slow": slowPromises, "Rates": ratePromises, "Tokens": tokenPromises,
		"Backlog":    backlogPromises,
		"Deliveries": deliveryPromises, "DeadLetters": letterPromises, "Jobs": jobPromises, "ApiKeys": keyPromises,
		"Endpoints": endpointPromises, "Marks": markPromises, "Reader": readerPromises,
		"TestCounts": testCountPromises, "Tenants": tenantPromises,
	}
}

// Run tests every promise on an empty backend each.
func Run(t *testing.T, open func(t *testing.T) Backend) {
	t.Helper()
	for store, promises := range Promises() {
		for _, p := range promises {
			t.Run(store+"/"+p.Name, func(t *testing.T) { p.Holds(t, open(t)) })
		}
	}
}

// at is a moment as the tables keep it: to the millisecond.
var at = time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC)

// again makes a write and loses its answer, and then makes it once more. The second answer must be the one that the
// first write would have got.
func again(t testing.TB, b Backend, write func() error) {
	t.Helper()
	b.Unheard(func() {
		if write() == nil {
			t.Error("the caller of a write whose answers were lost heard nothing of it")
		}
	})
	if err := write(); err != nil {
		t.Errorf("asked again: %v", err)
	}
}

// pages reads a list page by page. A page may be empty, and is never longer than limit.
func pages[T any](t testing.TB, limit int, read func(cursor string) (page []T, next string, err error)) (all []T) {
	t.Helper()
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, next, err := read(cursor)
		if err != nil || len(page) > limit {
			t.Fatalf("a page of %d, %v", len(page), err)
		}
		all, cursor = append(all, page...), next
	}
	return all
}

func key(endpointID string) dynamo.EndpointKey {
	return dynamo.EndpointKey{TenantID: "acme", EndpointID: endpointID}
}
