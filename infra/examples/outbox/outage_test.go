//go:build emulator && outbox

package outbox_test

import (
	"encoding/json"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const thirty = `INSERT INTO outbox (tenant_id, body) SELECT 'acme',
	format('{"id":"evt_%s","tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}', n)
	FROM generate_series(1, 30) AS n`

// While SQS takes nothing, nothing is set aside, and the table does not grow without bound. Afterwards everything goes,
// but for one event that makes every request fail, for no known reason: it stops nothing, and is set aside in the end.
func TestRelays_keepEverythingThroughAnOutage(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"go", "python"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			outlasts(t, language)
		})
	}
}

func outlasts(t *testing.T, language string) {
	t.Helper()
	c, q := newOutbox(t), newQueue()
	var out atomic.Bool
	out.Store(true)
	q.refuses = func(entries []entry) string {
		for _, one := range entries {
			if out.Load() || strings.Contains(one.MessageBody, `"evt_13"`) {
				return "Unforeseen"
			}
		}
		return ""
	}
	r := startRelay(t, c, q, relayIn(t, language, "-poll", "0.1", "-measure", "0.1", "-most", "40"),
		func(*runner, string) bool { return true })
	c.ask(t, thirty)
	await(t, "requests", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.requests >= 4
	})
	await(t, "a bound of 40 rows", func() bool { return c.ask(t, "SELECT upto FROM outbox_bound") == "40" })
	full, err := c.psql("-c", thirty).CombinedOutput()
	if err == nil || !strings.Contains(string(full), "the outbox is full: does a relay run?") {
		t.Errorf("30 events beyond the bound: %v, %s", err, full)
	}
	if got := c.ask(t, state); got != "30|0|0" {
		t.Errorf("waiting, set aside and failures in an outage: %s", got)
	}
	out.Store(false)
	c.drain(t, 1)
	await(t, "a failure of the event", func() bool {
		return c.ask(t, "SELECT count(*) FROM outbox WHERE failures > 0") == "1"
	})
	await(t, "a higher bound", func() bool { return c.ask(t, "SELECT upto FROM outbox_bound") == "99" })
	await(t, "event set aside at its last failure", func() bool {
		if c.ask(t, "SELECT count(*) FROM outbox") == "1" {
			c.ask(t, another) // something that goes, so that the event is to blame
		}
		c.ask(t, `UPDATE outbox SET failures = 19, leased_until = least(leased_until, now() + interval '1 s')
			WHERE failures > 0`)
		return c.ask(t, "SELECT count(*) FROM outbox_refused") == "1"
	})
	c.drain(t, 0)
	const aside = "SELECT substring(body from 'evt_[0-9]+'), reason FROM outbox_refused"
	if got := c.ask(t, aside); got != "evt_13|RequestFailed" {
		t.Errorf("set aside: %s", got)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.taken) != 30 || len(q.taken["evt_13"]) > 0 { // 29 of them, and the other
		t.Errorf("%d events were taken", len(q.taken))
	}
	r.metrics(t)
}

// metrics looks for a line of metrics while the events waited.
func (r *runner) metrics(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(r.log.Name())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		var m struct {
			Waiting, OldestSeconds float64
			AWS                    struct {
				CloudWatchMetrics []struct{ Metrics []struct{ Name string } }
			} `json:"_aws"`
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.Waiting != 30 || m.OldestSeconds <= 0 {
			continue
		}
		for _, one := range m.AWS.CloudWatchMetrics[0].Metrics {
			names = append(names, one.Name)
		}
		break
	}
	got := map[string]bool{}
	for _, name := range names {
		got[name] = true
	}
	want := map[string]bool{"Waiting": true, "OldestSeconds": true, "SetAside": true, "Sent": true, "Refused": true,
		"Errors": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
