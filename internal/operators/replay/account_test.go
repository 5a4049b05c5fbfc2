package replay

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/invoke"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/rejected"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/job"
	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

var at = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// account is an account of the model of AWS with replay on it, in the fake time of a bubble of synctest. The model
// keeps the state. Tests give verdicts about calls.
type account struct {
	*testing.T
	*model.Model
	events, rejected *model.Queue // EventsQueue and EventsDeadLetterQueue

	items *items // of every tenant

	// verdict is asked about every call, and may wait. Nil does all of them.
	verdict func(c *model.Call) model.Verdict
	faulty  bool // requests may fail

	mu       sync.Mutex
	made     int            // calls
	calls    map[string]int // of every process, by name
	steps    []string       // calls that change something, and audit lines, in order
	audited  map[string]bool
	lines    map[string]audit.Line // the last of each action
	order    []string              // of dead letters, by death
	lists    int                   // pages of dead letters that were read
	log      bytes.Buffer
	logLines slog.Handler // of the log, one for all processes: it has them write in turn
}

// inAccount runs a test in an account with an active, a disabled, a deleted and a narrowed endpoint, at the time of the
// deaths of its letters.
func inAccount(t *testing.T, do func(a *account)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at))
		m := model.New()
		a := &account{
			T: t, Model: m, events: m.NewQueue("EventsQueue"), rejected: m.NewQueue("EventsDeadLetterQueue"),
			items: &items{}, calls: map[string]int{}, audited: map[string]bool{}, lines: map[string]audit.Line{},
		}
		for id, status := range map[string]endpoint.Status{
			"webhook_1": endpoint.Active, "webhook_deleted": endpoint.Deleted, "webhook_disabled": endpoint.Disabled,
			"webhook_narrowed": endpoint.Active,
		} {
			a.Endpoints[id] = endpoint.Endpoint{ID: id, TenantID: "acme", Status: status, Events: []string{"user.*"}}
		}
		narrowed := a.Endpoints["webhook_narrowed"]
		narrowed.Events = []string{"user.created", "organization.*"}
		a.Endpoints["webhook_narrowed"] = narrowed
		a.logLines = slog.NewJSONHandler(&a.log, nil)
		m.Judge = a.judge
		do(a)
	})
}

// inLetters runs a test in an account with dead letters of webhook_1, one a millisecond, an hour after their deaths.
func inLetters(t *testing.T, n int, do func(a *account)) {
	t.Helper()
	inAccount(t, func(a *account) {
		a.put(deaths(a.T, n)...)
		time.Sleep(time.Hour)
		do(a)
	})
}

// changes are the calls that change something.
func changes(name string) bool {
	return strings.HasPrefix(name, "Write ") || strings.HasPrefix(name, "Send ") || strings.HasPrefix(name, "Delete")
}

// judge counts a call, and does as the test says. No dead letter is changed without a line in the audit log.
func (a *account) judge(c *model.Call) model.Verdict {
	v := model.Done
	if a.verdict != nil {
		v = a.verdict(c)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.made++
	a.calls[c.Name]++
	if c.Name == "Read DeadLetters" && c.Key == "list" {
		a.lists++
	}
	if v == model.Done && changes(c.Name) && c.Name != "Write Jobs" {
		a.steps = append(a.steps, strings.TrimSpace(c.Name+" "+c.Key))
	}
	if _, erasing := a.lines["erase"]; c.Name == "Write DeadLetters" && !a.audited[c.Key] && !erasing {
		a.Errorf("%s is changed without an audit line", c.Key)
	}
	return v
}

// refuse has the calls with a name, or a name and a key, refused.
func (a *account) refuse(call string) {
	a.verdict = func(c *model.Call) model.Verdict {
		if c.Name == call || c.Name+" "+c.Key == call {
			return model.Refused
		}
		return model.Done
	}
}

// fault has the n-th call go wrong. All others are done.
func (a *account) fault(n int, v model.Verdict) {
	asked := 0
	a.made = 0
	a.faulty = true
	a.verdict = func(*model.Call) model.Verdict {
		a.mu.Lock()
		defer a.mu.Unlock()
		asked++
		if asked == n {
			return v
		}
		return model.Done
	}
}

// heal has all calls done again. It reports whether the n-th was made.
func (a *account) heal(n int) (reached bool) {
	a.verdict = nil
	a.faulty = false
	return a.made >= n
}

// trail is the audit log, with the lines that it took.
type trail struct {
	model.Audit
	a *account
}

func (l trail) Write(ctx context.Context, lines ...audit.Line) error {
	err := l.Audit.Write(ctx, lines...)
	if err != nil {
		return err
	}
	l.a.mu.Lock()
	defer l.a.mu.Unlock()
	for _, line := range lines {
		l.a.audited[line.DeliveryID] = true
		l.a.lines[line.Action] = line
		l.a.steps = append(l.a.steps,
			"audit "+line.Action+" "+line.DeliveryID+line.MessageID+" by "+line.OperatorClaimed)
	}
	return nil
}

// handler is that of a process.
func (a *account) handler(p *model.Process) *Handler {
	return &Handler{
		DeadLetters: p.DeadLetters(), States: p.Deliveries(), Endpoints: p.Endpoints(), Jobs: p.Jobs(),
		Vault:      deadletter.Vault{Keys: p.OpeningKeys(), Random: rand.Reader},
		Deliveries: p.Sender(a.DeliveryQueue), Retries: p.Sender(a.RetryQueue), Events: p.Sender(a.events),
		Rejected: rejected.Queue{Client: p.Polled(a.rejected)}, Erasure: a.items,
		Audit: trail{p.Audit(), a}, Log: slog.New(a.logLines), Now: time.Now,
	}
}

// timeout is replay's.
const timeout = 50 * time.Second

// within makes a request of a new process, which has so much time.
func (a *account) within(limit time.Duration, request string) (answer string, err error) {
	a.Helper()
	p := a.Process("replay")
	h := a.handler(p).Function()
	p.Invoke(limit, func(ctx context.Context) {
		var out []byte
		out, err = h.Invoke(named(ctx, ":"+invoke.ForGood), []byte(request)) // by a name that may do all
		answer = string(out)
	}, func() {})
	return answer, err
}

// ask makes a request.
func (a *account) ask(request string) string {
	a.Helper()
	answer, err := a.within(timeout, request)
	if err != nil {
		a.Fatalf("%s: %v", request, err)
	}
	return answer
}

// ask makes a request and decodes its answer.
func ask[T any](a *account, request string) (answer T) {
	a.Helper()
	return testkit.Read[T](a.T, a.ask(request))
}

// refused is the code and field of a request's refusal.
func (a *account) refused(request string) string {
	a.Helper()
	return testkit.Refusal(a.T, a.ask(request))
}

// named is the context of an invocation by the function's name with a suffix.
func named(ctx context.Context, behind string) context.Context {
	const function = "arn:aws:lambda:eu-central-1:111122223333:function:herald-prod-replay"
	return lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{InvokedFunctionArn: function + behind})
}

// put stores dead letters.
func (a *account) put(letters ...deadletter.Record) {
	for _, l := range letters {
		a.Letters[l.DeliveryID] = l
		a.order = append(a.order, l.DeliveryID)
	}
}

// change changes a dead letter.
func (a *account) change(id string, change func(*deadletter.Record)) {
	l := a.Letters[id]
	change(&l)
	a.Letters[id] = l
}

// start stores a job.
func (a *account) start(j job.Job) {
	a.Jobs[j.ID] = model.JobRow{Job: j, Pages: map[int]job.Page{}}
}

// token is the job that was started under it.
func (a *account) token(token string) model.JobRow { return a.Jobs[job.ID(token)] }

// tokenNow is token while other processes are at work.
func (a *account) tokenNow(token string) model.JobRow {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	return a.token(token)
}

// reject has fanout reject events.
func (a *account) reject(events ...rejected.Event) {
	for _, e := range events {
		a.rejected.Send(rejected.Message(e))
	}
}

// on are the ids of the deliveries on a queue, and how often each is there.
func on(q *model.Queue) map[string]int {
	ids := map[string]int{}
	q.Each(func(r events.SQSMessage, _ time.Duration, _ int) { ids[model.Attribute(r, "delivery_id")]++ })
	return ids
}

// bodies are those of the messages on a queue.
func bodies(q *model.Queue) (all []string) {
	q.Each(func(r events.SQSMessage, _ time.Duration, _ int) { all = append(all, r.Body) })
	return all
}

// sent counts the deliveries on RetryQueue.
func (a *account) sent() int { return len(on(a.RetryQueue)) }

// vault seals with the one data key of the model.
var vault = deadletter.Vault{Keys: testkit.OneKey{}, Random: rand.Reader}

const body = `{"type":"user.deleted","data":{}}`

// good is an event that this version takes.
const good = `{"tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}`

// deliveryID is that of deadLetter.
var deliveryID = delivery.ID("acme", "evt", "webhook_1", delivery.ContentOf([]byte(body)))

// deadLetter is a dead letter of webhook_1, changed after it was sealed.
func deadLetter(t *testing.T, change func(*deadletter.Record)) deadletter.Record {
	t.Helper()
	r := seal(t, deadletter.Record{
		Ref: delivery.Ref{
			DeliveryID: deliveryID, TenantID: "acme", EndpointID: "webhook_1", EventID: "evt", CreatedAt: at,
		},
		EventType: "user.deleted", Status: deadletter.Dead, Reason: delivery.ReasonTimeout, DiedAt: at, UpdatedAt: at,
	})
	if change != nil {
		change(&r)
	}
	return r
}

func deaths(t *testing.T, n int) []deadletter.Record {
	t.Helper()
	records := make([]deadletter.Record, n)
	for i := range records {
		r := deadLetter(t, nil)
		r.EventID = "evt_" + strconv.Itoa(i)
		r.DeliveryID = delivery.ID("acme", r.EventID, "webhook_1", delivery.ContentOf([]byte(body)))
		r.DiedAt = at.Add(time.Duration(i) * time.Millisecond)
		records[i] = seal(t, r)
	}
	return records
}

// seal seals body as the record's.
func seal(t *testing.T, r deadletter.Record) deadletter.Record {
	t.Helper()
	death := deadletter.Death{Body: []byte(body), Entry: deadletter.Entry{Reason: r.Reason}}
	sealed, err := vault.SealDeath(t.Context(), r, death)
	if err != nil {
		t.Fatal(err)
	}
	r.Sealed = sealed
	return r
}
