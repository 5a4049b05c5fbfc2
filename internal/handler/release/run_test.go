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

	"github.com/herald-webhooks/herald/internal/backlog"
	"github.com/herald-webhooks/herald/internal/circuit"
	"github.com/herald-webhooks/herald/internal/dynamo"
)

// However much there is of one kind, the others get their time, and what they do not use is not lost.
func TestRun_sharesItsTimeAmongTheKindsOfWork(t *testing.T) {
	inWorld(t, func(w *world) {
		w.latency = 400 * time.Millisecond
		w.held("webhook_over", 5, func(i *backlog.Item) { i.DueAt = time.Now().Add(-8 * 24 * time.Hour) })
		for range 60_000 {
			w.due("webhook_due", 0)
		}
		w.store("webhook_over", circuit.None)
		w.held("webhook_back", 500)
		w.store("webhook_back", circuit.Recovering, func(i *circuit.Item) { i.Pace.Quota = 90 })
		w.held("webhook_open", 5)
		w.store("webhook_open", circuit.Open, func(i *circuit.Item) { i.Since = i.Since.Add(-time.Hour) })
		w.held("webhook_gone", 5)
		w.store("webhook_gone", circuit.None)
		w.change("webhook_gone", deleted)
		began := time.Now()
		took := w.run()
		first, last := map[string]time.Duration{}, map[string]time.Duration{}
		for _, m := range w.sent {
			if last[m.Endpoint] = m.At.Sub(began); first[m.Endpoint] == 0 {
				first[m.Endpoint] = m.At.Sub(began)
			}
		}
		// A fifth of 45 s is over after 9 s; then come the probe and what recovers.
		for id, until := range map[string]time.Duration{
			"webhook_open": 16 * time.Second, "webhook_back": 20 * time.Second, "webhook_over": 40 * time.Second,
		} {
			if first[id] == 0 || first[id] > until {
				w.Errorf("the first to %s went after %s, want %s at most", id, first[id], until)
			}
		}
		sent := w.sentTo()
		if sent["webhook_open"] != 1 || sent["webhook_back"] != 180 || len(w.records) != 5 {
			w.Errorf("sent %v, dropped %d", sent, len(w.records))
		}
		if last["webhook_due"] < 40*time.Second || took > 48*time.Second {
			w.Errorf("the last that was due went after %s, the run took %s", last["webhook_due"], took)
		}
		w.logged(`"late_s":`, `"due":`, `"probe":1`, `"recovery":180`, `"discarded":5`, `"endpoints":4`)
	})
}

// A run that is cut off is continued by the next one, which sends only what was not deleted.
func TestRun_isCutOffByTimeWithoutHarm(t *testing.T) {
	inWorld(t, func(w *world) {
		w.latency = 500 * time.Millisecond
		w.held("webhook_back", 900)
		w.store("webhook_back", circuit.Recovering, func(i *circuit.Item) { i.Pace.Quota = 480 })
		for range 9100 {
			w.due("webhook_due", 0)
		}
		w.run()
		cut := len(w.sent)
		if got := w.circuits["webhook_back"].Pace.Quota; got != 960 || w.sentTo()["webhook_back"] >= 900 {
			w.Errorf("%d of a quota of %d were sent", w.sentTo()["webhook_back"], got)
		}
		w.latency = 0
		w.minutes(3)
		sent := ids(w.sent)
		if distinct := len(slices.Compact(sent)); cut == 0 || cut == 10_000 || distinct != 10_000 || len(w.sent) != distinct {
			w.Errorf("%d at first, then %d of %d", cut, len(w.sent), distinct)
		}
	})
}

// A shard that does not delete gets no more duplicates than a page for each lane; the rest goes on.
func TestRun_leavesAPartitionAloneThatDoesNotDelete(t *testing.T) {
	inWorld(t, func(w *world) {
		sick := partition{hook, 3}
		w.refuses = func(call string, k backlog.Key) bool {
			return call == "Delete" && partition{k.EndpointID, k.Shard} == sick
		}
		for range 4000 {
			w.due(hook, 0)
			w.due("webhook_2", 0)
		}
		w.run()
		if left := len(w.waiting); left != len(w.shards[sick]) {
			w.Errorf("%d wait, want the %d of that shard", left, len(w.shards[sick]))
		}
		if again := len(w.sent) - (8000 - len(w.shards[sick])); again > atOnce*pageSize || again == 0 {
			w.Errorf("%d were sent and not deleted", again)
		}
	})
}

// sick has the partitions of these endpoints delete nothing.
func (w *world) sick(is func(id string) bool) {
	w.refuses = func(call string, k backlog.Key) bool { return call == "Delete" && is(k.EndpointID) }
}

func isSick(id string) bool { return strings.HasPrefix(id, "webhook_sick") }

// Whatever cannot be deleted, what is behind it goes in the same run: due, held to the end of its life, or
// discarded.
func TestRun_goesOnBehindWhatCannotBeDeleted(t *testing.T) {
	inWorlds(t, map[string]func(w *world) (id string){
		"of what is due": func(w *world) string {
			for range 30 {
				for n := range 60 {
					w.due(fmt.Sprint("webhook_sick", n), -time.Minute)
				}
			}
			for range 500 {
				w.due(hook, 0)
			}
			w.sick(isSick)
			return hook
		},
		"of what is over": func(w *world) string {
			over := func(i *backlog.Item) { i.DueAt = time.Now() }
			w.latency = 10 * time.Millisecond
			for n := range 2 * atOnce * pageSize {
				w.held(fmt.Sprint("webhook_sick", n, "@sick", n), 1, over)
			}
			w.held(hook, 30, over)
			w.store(hook, circuit.Open)
			w.sick(isSick)
			return hook
		},
		"of what was discarded": func(w *world) string {
			old := 0
			for old <= pageSize {
				if i := w.held(hook, 1)[0]; i.Shard == 3 {
					old++
				} else {
					delete(w.waiting, i.Key)
				}
			}
			w.held(hook, 100)
			w.store(hook, circuit.None)
			w.change(hook, deleted)
			w.refuses = func(call string, k backlog.Key) bool { return call == "Delete" && k.Shard == 3 }
			return hook
		},
	}, func(w *world, _ string, prepare func(w *world) (id string)) {
		id := prepare(w)
		w.run()
		for key := range w.waiting {
			if key.EndpointID == id && !w.refuses("Delete", key) {
				w.Fatalf("%d are left", len(w.left(id)))
			}
		}
	})
}

// Where nothing at all can be deleted, each lane sends a page, and then one message at a time.
func TestRun_sendsLittleWhereNothingCanBeDeleted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.latency = 100 * time.Millisecond
		for n := range 20_000 {
			w.due(fmt.Sprint("webhook_sick", n), 0)
		}
		w.sick(isSick)
		took := w.run()
		most := atOnce * (pageSize + int(took/(3*w.latency)))
		if len(w.sent) < atOnce*pageSize || len(w.sent) > most {
			w.Errorf("%d were sent in %s, want at most %d", len(w.sent), took, most)
		}
	})
}

// Nor does any other kind of work touch a partition that has refused.
func TestRun_leavesAPartitionAloneInAllKindsOfWork(t *testing.T) {
	inWorlds(t, map[string]circuit.State{
		"open": circuit.Open, "recovering": circuit.Recovering,
	}, func(w *world, _ string, state circuit.State) {
		held := w.held(hook, 20)
		for range 300 {
			w.due(hook, 0)
		}
		over := w.held(hook, 20, func(i *backlog.Item) { i.DueAt = time.Now().Add(time.Minute) })
		w.store(hook, state)
		time.Sleep(time.Minute)
		w.refuse("Delete")
		w.run()
		if strings.Contains(w.logs.String(), `"probe"`) {
			w.Error("a probe was sent")
		}
		sent := ids(w.sent)
		for _, id := range idsOf(append(held, over...)...) {
			if slices.Contains(sent, id) || len(w.buried) > 0 {
				w.Errorf("%s was sent, %d were buried", id, len(w.buried))
			}
		}
	})
}

// A table or queue that refuses everything is asked by each lane for a page, and for one or two more items.
func TestRun_leavesAloneWhatRefusesEverything(t *testing.T) {
	inWorlds(t, map[string]int{
		"RetryQueue": atOnce * 4, "DeadLetterQueue": atOnce * 4, "BatchGet": atOnce * 3, "Read": atOnce*3 + 1,
	}, func(w *world, name string, most int) {
		for range 2000 {
			w.due("webhook_2", 0)
		}
		w.held(hook, 2000, func(i *backlog.Item) { i.DueAt = time.Now() })
		w.store(hook, circuit.Open)
		w.refuse(name)
		if w.run(); w.calls[name] == 0 || w.calls[name] > most {
			w.Errorf("%d calls, want %d at most", w.calls[name], most)
		}
	})
}

// A queue that refuses the first page of each lane is given the next.
func TestRun_asksAQueueAgainThatRefusedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.latency = 10 * time.Millisecond
		for range 1000 {
			w.due(hook, 0)
		}
		w.refuses = func(call string, _ backlog.Key) bool { return call == "RetryQueue" && w.calls[call] <= atOnce*3 }
		if w.run(); len(w.sent) != 1000-atOnce*pageSize {
			w.Errorf("%d were sent", len(w.sent))
		}
	})
}

// Tenants whose parts of a table are throttled keep back no other tenant's deliveries, however many their own are.
func TestRun_goesOnBehindTenantsThatCannotBeRead(t *testing.T) {
	isOver := func(i *backlog.Item) { i.Held, i.DueAt = true, time.Now() }
	inWorlds(t, map[string]struct {
		call  string
		of    func(*backlog.Item)
		own   int
		calls int // at most
	}{
		"over: BatchGet": {"BatchGet", isOver, 100, 700},
		"over: Read":     {"Read", isOver, atOnce * (keysSize + 200), 2500},
		"due: BatchGet":  {"BatchGet", func(*backlog.Item) {}, atOnce * (keysSize + 200), 2500},
	}, func(w *world, _ string, row struct {
		call  string
		of    func(*backlog.Item)
		own   int
		calls int
	}) {
		w.latency = 50 * time.Millisecond // it takes more than burials' share of the time
		for n := range row.own {
			w.due(fmt.Sprint("webhook_1@sick", n%2), -time.Minute, row.of)
		}
		for n := range 2000 {
			id := fmt.Sprint("webhook_1@", 1+n%20)
			w.due(id, -time.Minute, row.of)
			w.change(id, disabled)
		}
		w.refuses = func(call string, k backlog.Key) bool {
			return call == row.call+"Of" && strings.HasPrefix(k.EndpointID, "webhook_1@sick")
		}
		w.run()
		if gone := len(w.buried) + len(w.sent); gone != 2000 {
			w.Errorf("%d of 2000 are gone", gone)
		}
		if w.calls[row.call] > row.calls {
			w.Errorf("%d calls, want at most %d", w.calls[row.call], row.calls)
		}
	})
}

// Held items that are found late in a run are buried in it all the same.
func TestRun_buriesWhatItFindsLate(t *testing.T) {
	inWorld(t, func(w *world) {
		w.latency = 100 * time.Millisecond
		for range atOnce * (keysSize + 200) { // those that are held are on the second page
			w.due("webhook_due", 0)
		}
		w.held(hook, 20, func(i *backlog.Item) { i.DueAt = time.Now() })
		w.store(hook, circuit.Open)
		if w.run(); len(w.buried) != 20 {
			w.Errorf("%d of 20 are buried, %d were sent", len(w.buried), len(w.sent))
		}
	})
}

// A run that cannot see its work fails; whatever else is refused is a fault in log and metrics. infra/invariants proves
// that nothing is lost by it.
func TestRun_saysWhatAWSRefuses(t *testing.T) {
	inWorlds(t, map[string]bool{
		"All": true, "Due": true, "BatchGet": false, "Read": false, "ReadShard": false, "RetryQueue": false,
		"DeadLetterQueue": false, "Delete": false, "PutBack": false, "Store": false, "Update": false, "Remove": false,
	}, func(w *world, call string, blind bool) {
		w.due("webhook_due", 0)
		w.held("webhook_back", 1, func(i *backlog.Item) { i.NotBefore = time.Now().Add(10 * time.Minute) })
		w.store("webhook_back", circuit.Recovering)
		w.held("webhook_over", 1, func(i *backlog.Item) { i.DueAt = time.Now() })
		w.store("webhook_over", circuit.Open)
		w.held("webhook_gone", 1)
		w.store("webhook_gone", circuit.None)
		w.change("webhook_gone", deleted)
		w.store("webhook_past", circuit.None, func(i *circuit.Item) { i.HeldUntil = time.Now().Add(-time.Hour) })
		w.refuse(call)
		err := w.handler().Run(w.Context())
		if errors.Is(err, ErrBlind) != blind || blind == strings.Contains(w.logs.String(), `"Runs"`) {
			w.Errorf("the run returned %v\n%s", err, w.logs.String())
		}
		w.logged(`"fault":"ours"`, `"Faults":[`)
	})
}

// A bug leaves its place in the log.
func TestRun_logsTheStackOfABug(t *testing.T) {
	inWorld(t, func(w *world) {
		w.due(hook, 0)
		w.refuses = func(call string, _ backlog.Key) bool {
			if call == "BatchGetOf" {
				panic("a bug")
			}
			return false
		}
		w.run()
		w.logged(`"panic":"a bug"`, `world_test.go`, `"fault":"ours"`)
	})
}

// What is late because nothing can be read or sent shows in the metric that the alarm looks at.
func TestRun_saysHowLateIsWhatItCannotSend(t *testing.T) {
	inWorlds(t, map[string]string{
		"read": "BatchGet", "sent": "RetryQueue", "deleted": "Delete",
	}, func(w *world, _, call string) {
		w.due(hook, -20*time.Minute)
		w.refuse(call)
		w.run()
		w.logged(`"BacklogLateSeconds":[1200]`, `"Faults":[1]`, `"Runs":[1]`)
		if len(w.left(hook)) != 1 {
			w.Error("it is gone")
		}
	})
}

// A run that finds nothing makes a call for each shard of the index, and one for the endpoints in trouble.
func TestRun_asksLittleWhenThereIsNothingToDo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.due(hook, time.Hour)
		w.run()
		if diff := cmp.Diff(map[string]int{"Due": backlog.DueShards, "All": 1}, w.calls); diff != "" {
			w.Errorf("calls (-want +got)\n%s", diff)
		}
		if n := strings.Count(w.logs.String(), `"Unit":`); n != 1 {
			w.Errorf("%d metrics", n)
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

// What is due of a tenant with many endpoints goes out in turn with that of another, whether or not a circuit
// names them.
func TestRun_letsTenantsTakeTurns(t *testing.T) {
	inWorld(t, func(w *world) {
		w.latency = time.Second
		for n := range 50 {
			id := "webhook_" + string(rune('a'+n%25)) + string(rune('a'+n/25)) + "@big"
			for range 200 {
				w.due(id, 0)
			}
		}
		for range 100 {
			w.due("webhook_1@small", 0)
		}
		ctx, cancel := context.WithTimeout(w.Context(), 12*time.Second)
		defer cancel()
		if err := w.handler().Run(ctx); err != nil {
			w.Fatal(err)
		}
		if got := w.sentTo()["webhook_1@small"]; got != 100 || len(w.sent) > 2000 {
			w.Errorf("%d of 100, and %d in all", got, len(w.sent))
		}
	})
}
