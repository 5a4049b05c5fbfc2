package jobs_test

import (
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/operators/replay"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
)

const good, timeout = operatortest.Good, operatortest.Timeout

var at = operatortest.At

// account is an account with replay on it, which has the acts of jobs.
type account struct{ *operatortest.Account }

// handler is that of a process.
func handler(a *operatortest.Account, p *model.Process) *replay.Handler {
	return &replay.Handler{
		DeadLetters: p.DeadLetters(), States: p.Deliveries(), Endpoints: p.Endpoints(), Jobs: p.Jobs(),
		Vault:      deadletter.Vault{Keys: p.OpeningKeys()},
		Deliveries: p.Sender(a.DeliveryQueue), Retries: p.Sender(a.RetryQueue), Events: p.Sender(a.EventsQueue),
		Rejected: rejected.Queue{Client: p.Polled(a.RejectedQueue)}, Erasure: a.Items,
		Audit: a.Trail(p), Log: a.Logger(), Now: time.Now,
	}
}

// inLetters runs a test in an account with dead letters of webhook_1, one a millisecond, an hour after their deaths.
func inLetters(t *testing.T, n int, do func(a *account)) {
	t.Helper()
	function := func(a *operatortest.Account, p *model.Process) lambda.Handler { return handler(a, p).Function() }
	operatortest.InLetters(t, function, n, func(a *operatortest.Account) { do(&account{a}) })
}

// ask makes a request and decodes its answer.
func ask[T any](a *account, request string) (answer T) {
	a.Helper()
	return operatortest.Ask[T](a.Account, request)
}

// sent counts the deliveries on RetryQueue.
func (a *account) sent() int { return len(operatortest.On(a.RetryQueue)) }
