package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/backlog"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// However much there is of one kind, the others get their time, and time that they do not use is not lost.
func TestRun_sharesItsTimeAmongTheKindsOfWork(t *testing.T) {
	inAccount(t, func(a *account) {
		a.latency = 400 * time.Millisecond
		a.held("webhook_over", 5, func(i *backlog.Item) { i.DueAt = time.Now().Add(-8 * 24 * time.Hour) })
		for range 60_000 {
			a.due("webhook_due", 0)
		}
		a.store("webhook_over", circuit.None)
		a.held("webhook_back", 500)
		a.store("webhook_back", circuit.Recovering, func(i *circuit.Item) { i.Pace.Quota = 90 })
		a.held("webhook_open", 5)
		a.store("webhook_open", circuit.Open, func(i *circuit.Item) { i.Since = i.Since.Add(-time.Hour) })
		a.held("webhook_gone", 5)
		a.store("webhook_gone", circuit.None)
		a.change("webhook_gone", deleted)
		began := time.Now()
		took := a.run()
		first, last := map[string]time.Duration{}, map[string]time.Duration{}
		for _, m := range a.sent {
			if last[m.Endpoint] = m.At.Sub(began); first[m.Endpoint] == 0 {
				first[m.Endpoint] = m.At.Sub(began)
			}
		}
		// A fifth of 45 s is over after 9 s; then come the probe and the recovery.
		for id, until := range map[string]time.Duration{
			"webhook_open": 16 * time.Second, "webhook_back": 20 * time.Second, "webhook_over": 40 * time.Second,
		} {
			if first[id] == 0 || first[id] > until {
				a.Errorf("the first to %s went after %s, want %s at most", id, first[id], until)
			}
		}
		sent := a.sentTo()
		if sent["webhook_open"] != 1 || sent["webhook_back"] != 180 || len(a.States) != 5 {
			a.Errorf("sent %v, dropped %d", sent, len(a.States))
		}
		if last["webhook_due"] < 40*time.Second || took > 48*time.Second {
			a.Errorf("the last that was due went after %s, the run took %s", last["webhook_due"], took)
		}
		a.logged(`"late_s":`, `"due":`, `"seen_held":`, `"probe":1`, `"recovery":180`, `"discarded":5`, `"endpoints":4`)
	})
}

// A run that is cut off is continued by the next one, which sends only the items that were not deleted.
func TestRun_isCutOffByTimeWithoutHarm(t *testing.T) {
	inAccount(t, func(a *account) {
		a.latency = 500 * time.Millisecond
		a.held("webhook_back", 900)
		a.store("webhook_back", circuit.Recovering, func(i *circuit.Item) { i.Pace.Quota = 480 })
		for range 9100 {
			a.due("webhook_due", 0)
		}
		a.run()
		cut := len(a.sent)
		if got := a.Circuits["webhook_back"].Pace.Quota; got != 960 || a.sentTo()["webhook_back"] >= 900 {
			a.Errorf("%d of a quota of %d were sent", a.sentTo()["webhook_back"], got)
		}
		a.latency = 0
		a.minutes(3)
		sent := ids(a.sent)
		if distinct := len(slices.Compact(sent)); cut == 0 || cut == 10_000 || distinct != 10_000 || len(a.sent) != distinct {
			a.Errorf("%d at first, then %d of %d", cut, len(a.sent), distinct)
		}
	})
}

// A shard that does not delete gets no more duplicates than a page for each shard of the index; the rest goes on.
func TestRun_leavesAPartitionAloneThatDoesNotDelete(t *testing.T) {
	inAccount(t, func(a *account) {
		sick := partition{hook, 3}
		a.refuses = func(call string, k backlog.Key) bool {
			return call == "DeleteOf" && partition{k.EndpointID, k.Shard} == sick
		}
		for range 4000 {
			a.due(hook, 0)
			a.due("webhook_2", 0)
		}
		of := len(a.shard(sick))
		a.run()
		if left := len(a.Backlog.Items); left != of {
			a.Errorf("%d wait, want the %d of that shard", left, of)
		}
		if again := len(a.sent) - (8000 - of); again > atOnce*pageSize || again == 0 {
			a.Errorf("%d were sent and not deleted", again)
		}
	})
}

// sick has the partitions of these endpoints delete nothing.
func (a *account) sick(is func(id string) bool) {
	a.refuses = func(call string, k backlog.Key) bool { return call == "DeleteOf" && is(k.EndpointID) }
}

func isSick(id string) bool { return strings.HasPrefix(id, "webhook_sick") }

// Whichever items cannot be deleted, the ones behind them go in the same run: due, held to the end of their lives, or
// discarded.
func TestRun_goesOnBehindWhatCannotBeDeleted(t *testing.T) {
	inAccounts(t, map[string]func(a *account) (id string){
		"due": func(a *account) string {
			for range 30 {
				for n := range 60 {
					a.due(fmt.Sprint("webhook_sick", n), -time.Minute)
				}
			}
			for range 500 {
				a.due(hook, 0)
			}
			a.sick(isSick)
			return hook
		},
		"of a delivery that is over": func(a *account) string {
			over := func(i *backlog.Item) { i.DueAt = time.Now() }
			a.latency = 10 * time.Millisecond
			for n := range 2 * atOnce * pageSize {
				a.held(fmt.Sprint("webhook_sick", n, "@sick", n), 1, over)
			}
			a.held(hook, 30, over)
			a.store(hook, circuit.Open)
			a.sick(isSick)
			return hook
		},
		"discarded": func(a *account) string {
			old := 0
			for old <= pageSize {
				if i := a.held(hook, 1)[0]; i.Shard == 3 {
					old++
				} else {
					_ = a.Backlog.Delete(i, time.Now())
				}
			}
			a.held(hook, 100)
			a.store(hook, circuit.None)
			a.change(hook, deleted)
			a.refuses = func(call string, k backlog.Key) bool { return call == "DeleteOf" && k.Shard == 3 }
			return hook
		},
	}, func(a *account, _ string, prepare func(a *account) (id string)) {
		id := prepare(a)
		a.run()
		for key := range a.Backlog.Items {
			if key.EndpointID == id && !a.refuses("DeleteOf", key) {
				a.Fatalf("%d are left", len(a.left(id)))
			}
		}
	})
}

// Where nothing at all can be deleted, each shard of the index sends a page, and then one message at a time.
func TestRun_sendsLittleWhereNothingCanBeDeleted(t *testing.T) {
	inAccount(t, func(a *account) {
		a.latency = 100 * time.Millisecond
		for n := range 20_000 {
			a.due(fmt.Sprint("webhook_sick", n), 0)
		}
		a.sick(isSick)
		took := a.run()
		most := atOnce * (pageSize + int(took/(3*a.latency)))
		if len(a.sent) < atOnce*pageSize || len(a.sent) > most {
			a.Errorf("%d were sent in %s, want at most %d", len(a.sent), took, most)
		}
	})
}

// Nor does any other kind of work touch a partition that has refused.
func TestRun_leavesAPartitionAloneInAllKindsOfWork(t *testing.T) {
	inAccounts(t, map[string]circuit.State{
		"open": circuit.Open, "recovering": circuit.Recovering,
	}, func(a *account, _ string, state circuit.State) {
		held := a.held(hook, 20)
		for range 300 {
			a.due(hook, 0)
		}
		over := a.held(hook, 20, func(i *backlog.Item) { i.DueAt = time.Now().Add(time.Minute) })
		a.store(hook, state)
		time.Sleep(time.Minute)
		a.refuse("Delete")
		a.run()
		if strings.Contains(a.logs.String(), `"probe"`) {
			a.Error("a probe was sent")
		}
		sent := ids(a.sent)
		for _, id := range idsOf(append(held, over...)...) {
			if slices.Contains(sent, id) || len(a.buried) > 0 {
				a.Errorf("%s was sent, %d were buried", id, len(a.buried))
			}
		}
	})
}

// A table or queue that refuses everything is asked by each shard of the index for a page, and for one or two more
// items.
func TestRun_leavesAloneWhatRefusesEverything(t *testing.T) {
	inAccounts(t, map[string]int{
		"RetryQueue": atOnce * 4, "DeadLetterQueue": atOnce * 4, "BatchGet": atOnce * 3, "Read": atOnce*3 + 1,
	}, func(a *account, name string, most int) {
		for range 2000 {
			a.due("webhook_2", 0)
		}
		a.held(hook, 2000, func(i *backlog.Item) { i.DueAt = time.Now() })
		a.store(hook, circuit.Open)
		a.refuse(name)
		if a.run(); a.calls[name] == 0 || a.calls[name] > most {
			a.Errorf("%d calls, want %d at most", a.calls[name], most)
		}
	})
}

// A queue that refuses the first page of each shard of the index is given the next.
func TestRun_asksAQueueAgainThatRefusedOnce(t *testing.T) {
	inAccount(t, func(a *account) {
		a.latency = 10 * time.Millisecond
		for range 1000 {
			a.due(hook, 0)
		}
		a.refuses = func(call string, _ backlog.Key) bool { return call == "RetryQueue" && a.calls[call] <= atOnce*3 }
		if a.run(); len(a.sent) != 1000-atOnce*pageSize {
			a.Errorf("%d were sent", len(a.sent))
		}
	})
}

// A tenant with a throttled part of the table keeps back no other tenant's deliveries, however many deliveries it has.
func TestRun_goesOnBehindTenantsThatCannotBeRead(t *testing.T) {
	isOver := func(i *backlog.Item) { i.Held, i.DueAt = true, time.Now() }
	inAccounts(t, map[string]struct {
		call  string
		of    func(*backlog.Item)
		own   int
		calls int // at most
	}{
		"over: BatchGet": {"BatchGet", isOver, 100, 700},
		"over: Read":     {"Read", isOver, atOnce * (keysSize + 200), 2500},
		"due: BatchGet":  {"BatchGet", func(*backlog.Item) {}, atOnce * (keysSize + 200), 2500},
	}, func(a *account, _ string, row struct {
		call  string
		of    func(*backlog.Item)
		own   int
		calls int
	}) {
		a.latency = 50 * time.Millisecond // it takes more than burials' share of the time
		for n := range row.own {
			a.due(fmt.Sprint("webhook_1@sick", n%2), -time.Minute, row.of)
		}
		for n := range 2000 {
			id := fmt.Sprint("webhook_1@", 1+n%20)
			a.due(id, -time.Minute, row.of)
			a.change(id, disabled)
		}
		a.refuses = func(call string, k backlog.Key) bool {
			return call == row.call+"Of" && strings.HasPrefix(k.EndpointID, "webhook_1@sick")
		}
		a.run()
		if gone := len(a.buried) + len(a.sent); gone != 2000 {
			a.Errorf("%d of 2000 are gone", gone)
		}
		if a.calls[row.call] > row.calls {
			a.Errorf("%d calls, want at most %d", a.calls[row.call], row.calls)
		}
	})
}

// An endpoint with an unreadable row is asked for once by each shard of the index, however many items of a partition
// are over. They are all in one partition here: a page of 25 may have none of another, and then asks for that one, too.
func TestRun_leavesAnEndpointAloneThatCannotBeRead(t *testing.T) {
	inAccount(t, func(a *account) {
		a.held(hook, 2000, func(i *backlog.Item) { i.DueAt, i.Shard = time.Now(), 0 })
		a.refuse("ReadOf")
		if a.run(); a.calls["Read"] > atOnce || len(a.left(hook)) != 2000 {
			a.Errorf("%d reads, %d wait", a.calls["Read"], len(a.left(hook)))
		}
	})
}

// Held items that are found late in a run are still buried in it.
func TestRun_buriesWhatItFindsLate(t *testing.T) {
	inAccount(t, func(a *account) {
		a.latency = 100 * time.Millisecond
		for range atOnce * (keysSize + 200) { // those that are held are on the second page
			a.due("webhook_due", 0)
		}
		a.held(hook, 20, func(i *backlog.Item) { i.DueAt = time.Now() })
		a.store(hook, circuit.Open)
		if a.run(); len(a.buried) != 20 {
			a.Errorf("%d of 20 are buried, %d were sent", len(a.buried), len(a.sent))
		}
	})
}

// A run that cannot see its work fails; whatever else is refused is a fault in log and metrics. infra/proofs/invariants
// proves that nothing is lost by it.
func TestRun_saysWhatAWSRefuses(t *testing.T) {
	inAccounts(t, map[string]bool{
		"All": true, "Due": true, "BatchGet": false, "Read": false, "ReadShard": false, "RetryQueue": false,
		"DeadLetterQueue": false, "Delete": false, "PutBack": false, "Store": false, "Update": false, "RemoveOf": false,
	}, func(a *account, call string, blind bool) {
		a.due("webhook_due", 0)
		a.held("webhook_back", 1, func(i *backlog.Item) { i.NotBefore = time.Now().Add(10 * time.Minute) })
		a.store("webhook_back", circuit.Recovering)
		a.held("webhook_over", 1, func(i *backlog.Item) { i.DueAt = time.Now() })
		a.store("webhook_over", circuit.Open)
		a.held("webhook_gone", 1)
		a.store("webhook_gone", circuit.None)
		a.change("webhook_gone", deleted)
		a.store("webhook_past", circuit.None, func(i *circuit.Item) { i.HeldUntil = time.Now().Add(-time.Hour) })
		a.refuse(call)
		err := a.handler().Run(a.Context())
		if errors.Is(err, ErrBlind) != blind || blind == strings.Contains(a.logs.String(), `"Runs"`) {
			a.Errorf("the run returned %v\n%s", err, a.logs.String())
		}
		a.logged(`"fault":"internal"`, `"Faults":[`)
	})
}

// A bug leaves its place in the log.
func TestRun_logsTheStackOfABug(t *testing.T) {
	inAccount(t, func(a *account) {
		a.due(hook, 0)
		a.refuses = func(call string, _ backlog.Key) bool {
			if call == "BatchGetOf" {
				panic("a bug")
			}
			return false
		}
		a.run()
		a.logged(`"panic":"a bug"`, `harness_test.go`, `"fault":"internal"`)
	})
}

// Deliveries that are late because nothing can be read or sent show in the metric that the alarm looks at.
func TestRun_saysHowLateIsWhatItCannotSend(t *testing.T) {
	inAccounts(t, map[string]string{
		"read": "BatchGet", "sent": "RetryQueue", "deleted": "Delete",
	}, func(a *account, _, call string) {
		a.due(hook, -20*time.Minute)
		a.refuse(call)
		a.run()
		a.logged(`"BacklogLateSeconds":[1200]`, `"Faults":[1]`, `"Runs":[1]`)
		if len(a.left(hook)) != 1 {
			a.Error("it is gone")
		}
	})
}

// So do deliveries for which a run has no time.
func TestRun_saysHowLateIsWhatItHasNoTimeFor(t *testing.T) {
	inAccount(t, func(a *account) {
		a.due(hook, -20*time.Minute)
		a.latency = 10 * time.Second
		ctx, cancel := context.WithTimeout(a.Context(), 11*time.Second)
		defer cancel()
		if err := a.handler().Run(ctx); err != nil {
			a.Fatal(err)
		}
		a.logged(`"BacklogLateSeconds":[1210]`)
		if len(a.sent) > 0 {
			a.Errorf("sent %+v", a.sent)
		}
	})
}

// A run that finds nothing makes a call for each shard of the index, and one for the endpoints in trouble.
func TestRun_asksLittleWhenThereIsNothingToDo(t *testing.T) {
	inAccount(t, func(a *account) {
		a.due(hook, time.Hour)
		a.run()
		if diff := cmp.Diff(map[string]int{"Due": backlog.DueShards, "All": 1}, a.calls); diff != "" {
			a.Errorf("calls (-want +got)\n%s", diff)
		}
		if n := strings.Count(a.logs.String(), `"Unit":`); n != 1 {
			a.Errorf("%d metrics", n)
		}
	})
}

func TestInTurn(t *testing.T) {
	all := strings.Fields("a1x a1y a1z a2x b1x a2y b1y c1x b1z")
	of := func(s string) dynamo.EndpointKey { return dynamo.EndpointKey{TenantID: s[:1], EndpointID: s[:2]} }
	want := strings.Fields("a1x b1x c1x a2x b1y a1y b1z a2y a1z")
	if diff := cmp.Diff(want, inTurn(all, of)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Due deliveries of a tenant with many endpoints go out in turn with those of another, whether or not a circuit
// names them.
func TestRun_letsTenantsTakeTurns(t *testing.T) {
	inAccount(t, func(a *account) {
		a.latency = time.Second
		for n := range 50 {
			id := "webhook_" + string(rune('a'+n%25)) + string(rune('a'+n/25)) + "@big"
			for range 200 {
				a.due(id, 0)
			}
		}
		for range 100 {
			a.due("webhook_1@small", 0)
		}
		ctx, cancel := context.WithTimeout(a.Context(), 12*time.Second)
		defer cancel()
		if err := a.handler().Run(ctx); err != nil {
			a.Fatal(err)
		}
		if got := a.sentTo()["webhook_1@small"]; got != 100 || len(a.sent) > 2000 {
			a.Errorf("%d of 100, and %d in all", got, len(a.sent))
		}
	})
}
