package operatortest

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// Body is the body of dead deliveries.
const Body = `{"type":"user.deleted","data":{}}`

// Good is an event that this version takes.
const Good = `{"tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}`

// DeliveryID is that of DeadLetter.
var DeliveryID = delivery.ID("acme", "evt", "webhook_1", delivery.ContentOf([]byte(Body)))

// Vault seals with the one data key of the model.
var Vault = deadletter.Vault{Keys: testkit.OneKey{}}

// DeadLetter is a dead letter of webhook_1, changed after it was sealed.
func DeadLetter(t *testing.T, change func(*deadletter.Record)) deadletter.Record {
	t.Helper()
	r := Seal(t, deadletter.Record{
		Ref: delivery.Ref{
			DeliveryID: DeliveryID, TenantID: "acme", EndpointID: "webhook_1", EventID: "evt", CreatedAt: At,
		},
		EventType: "user.deleted", Status: deadletter.Dead, Reason: delivery.ReasonTimeout, DiedAt: At, UpdatedAt: At,
	})
	if change != nil {
		change(&r)
	}
	return r
}

// Deaths are dead letters of webhook_1, one a millisecond.
func Deaths(t *testing.T, n int) []deadletter.Record {
	t.Helper()
	records := make([]deadletter.Record, n)
	for i := range records {
		r := DeadLetter(t, nil)
		r.EventID = "evt_" + strconv.Itoa(i)
		r.DeliveryID = delivery.ID("acme", r.EventID, "webhook_1", delivery.ContentOf([]byte(Body)))
		r.DiedAt = At.Add(time.Duration(i) * time.Millisecond)
		records[i] = Seal(t, r)
	}
	return records
}

// Seal seals Body as the record's.
func Seal(t *testing.T, r deadletter.Record) deadletter.Record {
	t.Helper()
	death := deadletter.Death{Body: []byte(Body), Entry: deadletter.Entry{Reason: r.Reason}}
	sealed, err := Vault.SealDeath(t.Context(), r, death)
	if err != nil {
		t.Fatal(err)
	}
	r.Sealed = sealed
	return r
}

// Put stores dead letters.
func (a *Account) Put(letters ...deadletter.Record) {
	for _, l := range letters {
		a.Letters[l.DeliveryID] = l
		a.Order = append(a.Order, l.DeliveryID)
	}
}

// Change changes a dead letter.
func (a *Account) Change(id string, change func(*deadletter.Record)) {
	l := a.Letters[id]
	change(&l)
	a.Letters[id] = l
}

// Start stores a job.
func (a *Account) Start(j job.Job) {
	a.Jobs[j.ID] = model.JobRow{Job: j, Pages: map[int]job.Page{}}
}

// Token is the job that was started under it.
func (a *Account) Token(token string) model.JobRow { return a.Jobs[job.ID(token)] }

// TokenNow is Token while other processes are at work.
func (a *Account) TokenNow(token string) model.JobRow {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	return a.Token(token)
}

// Reject has fanout reject events.
func (a *Account) Reject(events ...rejected.Event) {
	for _, e := range events {
		a.RejectedQueue.Send(rejected.Message(e))
	}
}

// On are the ids of the deliveries on a queue, and how often each is there.
func On(q *model.Queue) map[string]int {
	ids := map[string]int{}
	q.Each(func(r events.SQSMessage, _ time.Duration, _ int) { ids[model.Attribute(r, "delivery_id")]++ })
	return ids
}

// Bodies are those of the messages on a queue.
func Bodies(q *model.Queue) (all []string) {
	q.Each(func(r events.SQSMessage, _ time.Duration, _ int) { all = append(all, r.Body) })
	return all
}
