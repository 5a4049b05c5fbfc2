package release

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// An item that is put again while its message is sent stays for the next run, with the circuit that leads to it. It is
// no fault.
func TestRun_leavesWhatIsPutAgainWhileItIsSent(t *testing.T) {
	inAccounts(t, map[string]func(a *account) backlog.Item{
		"due":        func(a *account) backlog.Item { return a.due(hook, 0) },
		"recovering": func(a *account) backlog.Item { return a.held(hook, 1)[0] },
	}, func(a *account, _ string, item func(a *account) backlog.Item) {
		i := item(a)
		a.store(hook, circuit.Recovering)
		keep := a.Sent
		a.Sent = func(q *model.Queue, m events.SQSMessage) {
			i.StoredAt = i.StoredAt.Add(time.Second)
			if err := a.Backlog.Put(i, time.Now()); err != nil {
				a.Error(err)
			}
			keep(q, m)
		}
		a.run()
		if got := a.left(hook); !slices.Equal(got, idsOf(i)) || len(a.sent) != 1 {
			a.Errorf("left %v of %v, %d sent", got, idsOf(i), len(a.sent))
		}
		if logs := a.logs.String(); strings.Contains(logs, "deleting") || strings.Contains(logs, "ERROR") {
			a.Errorf("a fault: %s", logs)
		}
		a.Sent = keep
		a.minutes(3)
		if left := a.left(hook); len(left) > 0 {
			a.Errorf("still there: %v", left)
		}
	})
}
