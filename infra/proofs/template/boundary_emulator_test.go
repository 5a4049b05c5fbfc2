//go:build emulator

package template

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
	"github.com/herald-webhooks/herald/infra/kit/rights"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// unasked are the functions that no request starts. Only an alarm can tell of their faults.
var unasked = []string{"Fanout", "Deliver", "Deadletter", "Release"}

// lacking are the alarms that go off on a day on which a boundary takes a right from these functions. Such a day has no
// requests of operators or tenants. The API would answer a tenant's with 500 (ApiErrorsAlarm).
var lacking = map[string][]string{
	"dynamodb:BatchGetItem":   {"BacklogLateAlarm", "DeliverFaultsAlarm", "ReleaseFaultsAlarm"},
	"dynamodb:BatchWriteItem": {"ResultsLostAlarm"},
	"dynamodb:DeleteItem":     {"BacklogLateAlarm", "ReleaseFaultsAlarm"},
	"dynamodb:GetItem":        {"DeadLettersStuckAlarm", "DeadletterFaultsAlarm"},
	"dynamodb:PutItem":        {"DeadLettersStuckAlarm", "DeadletterFaultsAlarm", "ResultsLostAlarm"},
	"dynamodb:Query": {
		"BacklogLateAlarm", "FanoutFaultsAlarm", "ReleaseFaultsAlarm", "ReleaseRunsMissingAlarm",
	},
	"dynamodb:Scan":               {"ReleaseFaultsAlarm", "ReleaseRunsMissingAlarm"},
	"dynamodb:UpdateItem":         {"DeadLettersStuckAlarm", "DeadletterFaultsAlarm", "ResultsLostAlarm"},
	"kms:Decrypt":                 {"DeliverFaultsAlarm"},
	"kms:GenerateDataKey":         {"DeadLettersStuckAlarm", "DeadletterFaultsAlarm"},
	"lambda:InvokeFunction":       {"ReleaseFaultsAlarm"},
	"sqs:ChangeMessageVisibility": {"ResultsLostAlarm"},
	"sqs:SendMessage":             {"BacklogLateAlarm", "FanoutFaultsAlarm", "ReleaseFaultsAlarm", "ResultsLostAlarm"},
}

// notPlayed are rights that AWS uses in the functions' name. For each, another day shows the consequence of losing it.
var notPlayed = map[string]string{
	"logs:CreateLogStream":   "logs are refused",
	"logs:PutLogEvents":      "logs are refused",
	"sqs:DeleteMessage":      "deliver does not keep up", // of mappings
	"sqs:GetQueueAttributes": "deliver does not keep up",
	"sqs:ReceiveMessage":     "deliver does not keep up",
}

// A function meets a boundary without a right in its calls. Whichever right is missing, the log says AccessDenied and
// an alarm goes off.
func TestAlarms_whereABoundaryLacksARight(t *testing.T) {
	tpl := withoutNotices(t)
	defined := alarmsOf(t, tpl, configurations(t, tpl)["default"])
	rights := map[string]bool{}
	for _, function := range unasked {
		for _, s := range granted(tpl, function+"Role") {
			for _, action := range list(s["Action"]) {
				rights[fmt.Sprint(action)] = true
			}
		}
	}
	for action, name := range notPlayed {
		if !rights[action] || len(days[name].raises) == 0 {
			t.Errorf("no function may %s, or no alarm goes off when %s", action, name)
		}
		delete(rights, action)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(lacking)), slices.Sorted(maps.Keys(rights))); diff != "" {
		t.Errorf("rights (-with a day +of a role):\n%s", diff)
	}
	for action := range rights {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			var logged bytes.Buffer
			output := s.options.Output
			s.options.Output = func(function string) io.Writer { return io.MultiWriter(output(function), &logged) }
			s.live(day{busy: true, fault: lacks(action), tick: work(action)})
			var raised []string
			for _, name := range slices.Sorted(maps.Keys(defined)) {
				if goesOff(s, defined[name]) {
					raised = append(raised, name)
				}
			}
			if diff := cmp.Diff(lacking[action], raised); diff != "" || len(raised) == 0 {
				t.Errorf("without %s (-want +got):\n%s", action, diff)
			}
			if !strings.Contains(logged.String(), "AccessDenied") {
				t.Errorf("no log says that %s is missing", action)
			}
		})
	}
}

// goesOff reports whether an alarm goes off on the day, by one reading of CloudWatch's documentation at least: when a
// right is missing, faults come with the tries of a few deliveries, and may leave one of an alarm's periods without
// any.
func goesOff(s *stage, a alarms.Alarm) bool {
	s.t.Helper()
	var undecided *alarms.Undecided
	if _, err := a.History(&s.data, start, start.Add(dayUntil*time.Minute)); errors.As(err, &undecided) {
		return true
	}
	return s.raised(a) > 0
}

// lacks refuses these functions' calls that need a right, as IAM does under a boundary that lacks it.
func lacks(action string) func(*stage) {
	return func(s *stage) {
		s.faults.Add(testkit.Rule{Fault: refuse(), When: func(c testkit.Call) bool {
			by := caller.FindStringSubmatch(c.Header.Get("User-Agent"))
			if !slices.ContainsFunc(unasked, func(function string) bool { return strings.EqualFold(function, by[1]) }) {
				return false
			}
			return slices.ContainsFunc(askedBy(s.t, c), func(a asked) bool { return a.action == action })
		}})
	}
}

// work needs every right: something is held, waits, is tried again, and dies. A job is open, for which release calls
// replay, where that is refused; the emulator has no such function.
func work(action string) func(*stage) {
	job := ""
	return func(s *stage) {
		s.put("RetryQueue", "webhook_off", 1)
		s.put("RetryQueue", "webhook_bad", 2)
		s.put("DeadLetterQueue", "webhook_bad", 1)
		s.wait(s.message("webhook_good"), s.now, false)
		last := s.message("webhook_bad")
		last.Attempts = 9
		s.send("RetryQueue", queue.Of(last, 0))
		if action != "lambda:InvokeFunction" {
			return
		}
		switch minute := int(s.now.Sub(start) / time.Minute); minute {
		case troubleFrom:
			const request = `{"action":"start_job","operator":"ann","act":"replay","endpoint_id":"webhook_good"}`
			job = s.ask(s.people()["replay"], request)["job"].(object)["job_id"].(string)
		case troubleUntil - tickEvery:
			s.ask(s.people()["replay"], fmt.Sprintf(`{"action":"stop_job","operator":"ann","job_id":%q}`, job))
		}
	}
}

// bounded gives the other evaluator each call under two boundaries: one lacks the call's right, the other a different
// right. The boundary limits a call even if the policy of the resource allows it.
func (c *calls) bounded(t *testing.T, d deployment) {
	t.Helper()
	var all []rights.Call
	var wanted []string
	for _, function := range functionsOf(load(t)) {
		for _, a := range slices.SortedFunc(maps.Keys(c.all[strings.ToLower(function)]), compareCalls) {
			for boundary, want := range map[string]string{a.action: "ImplicitlyDenied", "sns:Publish": "Allowed"} {
				call := d.judge(function, a)
				call.Boundary = []any{object{"Effect": "Allow", "NotAction": boundary, "Resource": "*"}}
				all, wanted = append(all, call), append(wanted, want)
			}
		}
	}
	for i, result := range evaluate(t, all) {
		if result != wanted[i] {
			t.Errorf("%s of %s with the boundary %v: %s, want %s",
				all[i].Action, all[i].Principal, all[i].Boundary, result, wanted[i])
		}
	}
	t.Logf("%d calls are refused under a boundary that lacks their right, and allowed under another", len(all)/2)
}
