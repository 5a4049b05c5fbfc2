//go:build emulator

package outbox_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const another = `INSERT INTO outbox (tenant_id, body) VALUES ('acme',
	'{"id":"evt_31","tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}')`

const state = "SELECT count(*), (SELECT count(*) FROM outbox_refused), coalesce(max(failures), 0) FROM outbox"

// SQS may take requests, and fail each of their entries: while its key is away, say. Then no event is to blame.
func TestRelays_blameNoEventWhileNoneGoes(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"go", "python"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			c, q := newOutbox(t), newQueue()
			var out atomic.Bool
			out.Store(true)
			q.fails = func(e entry) string {
				if out.Load() || strings.Contains(e.MessageBody, `"evt_31"`) {
					return "InternalError"
				}
				return ""
			}
			startRelay(t, c, q, relayIn(t, language, "-poll", "0.1"), func(*runner, string) bool { return true })
			c.ask(t, another)
			await(t, "a second claim", func() bool {
				q.mu.Lock()
				defer q.mu.Unlock()
				return q.requests >= 7
			})
			if got := c.ask(t, state); got != "1|0|0" {
				t.Errorf("waiting, set aside and failures in an outage: %s", got)
			}
			out.Store(false)
			c.ask(t, strings.Replace(another, "evt_31", "evt_32", 1))
			await(t, "a failure of the event", func() bool { return c.ask(t, state) == "1|0|1" })
		})
	}
}

// A lease that ends far in the future is no relay's: the clock has gone back since, or a service wrote it. And what is
// set aside counts as what waits, so that bad rows cannot fill the disk.
func TestRelays_boundWhatStays(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"go", "python"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			c, q := newOutbox(t), newQueue()
			for _, until := range []string{"now() + interval '11 minutes'", "'infinity'"} {
				c.ask(t, another)
				c.ask(t, "UPDATE outbox SET leased_until = "+until+" WHERE leased_until = '-infinity'")
			}
			c.ask(t, "INSERT INTO outbox (tenant_id, body) SELECT 'acme', 'no event' FROM generate_series(1, 30)")
			startRelay(t, c, q, relayIn(t, language, "-poll", "0.1", "-measure", "0.1", "-most", "40"),
				func(*runner, string) bool { return true })
			await(t, "end of what waits", func() bool { return c.ask(t, state) == "0|30|0" })
			await(t, "bound of 10 more rows", func() bool {
				return c.ask(t, "SELECT upto - (SELECT last_value FROM outbox_seq_seq) FROM outbox_bound") == "10"
			})
		})
	}
}

func await(t *testing.T, what string, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if there() {
			return
		}
	}
	t.Fatal(fmt.Sprint("no ", what, " within a minute"))
}
