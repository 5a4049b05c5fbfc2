package replay

import (
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
)

const body, good, timeout = operatortest.Body, operatortest.Good, operatortest.Timeout

var at, deliveryID = operatortest.At, operatortest.DeliveryID

// account is an account with replay on it.
type account struct{ *operatortest.Account }

// function is that of a process.
func function(a *operatortest.Account, p *model.Process) lambda.Handler {
	return (&account{a}).handler(p).Function()
}

// inAccount runs a test in an account.
func inAccount(t *testing.T, do func(a *account)) {
	t.Helper()
	operatortest.In(t, function, func(a *operatortest.Account) { do(&account{a}) })
}

// inLetters runs a test in an account with dead letters of webhook_1, one a millisecond, an hour after their deaths.
func inLetters(t *testing.T, n int, do func(a *account)) {
	t.Helper()
	operatortest.InLetters(t, function, n, func(a *operatortest.Account) { do(&account{a}) })
}

// handler is that of a process.
func (a *account) handler(p *model.Process) *Handler {
	return &Handler{
		DeadLetters: p.DeadLetters(), States: p.Deliveries(), Endpoints: p.Endpoints(), Jobs: p.Jobs(),
		Vault:      deadletter.Vault{Keys: p.OpeningKeys()},
		Deliveries: p.Sender(a.DeliveryQueue), Retries: p.Sender(a.RetryQueue), Events: p.Sender(a.EventsQueue),
		Rejected: rejected.Queue{Client: p.Polled(a.RejectedQueue)}, Erasure: a.Items,
		Audit: a.Trail(p), Log: a.Logger(), Now: time.Now,
	}
}

// ask makes a request and decodes its answer.
func ask[T any](a *account, request string) (answer T) {
	a.Helper()
	return operatortest.Ask[T](a.Account, request)
}

// deadLetter is a dead letter of webhook_1, changed after it was sealed.
func deadLetter(t *testing.T, change func(*deadletter.Record)) deadletter.Record {
	t.Helper()
	return operatortest.DeadLetter(t, change)
}
