//go:build emulator && outbox

package outbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// From the statement of a service to the request at the queue, its commit included: while nothing else waits, and
// behind 50 others, ten times a second.
func TestRelays_sendAtOnce(t *testing.T) {
	for name, others := range map[string]int{"an idle table": 0, "500 events a second": 50} {
		t.Run(name, func(t *testing.T) { sendsAtOnce(t, name, others) })
	}
}

func sendsAtOnce(t *testing.T, name string, others int) {
	t.Helper()
	language := languages()[0]
	c, q := newOutbox(t), newQueue()
	startRelay(t, c, q, relayIn(t, language), func(*runner, string) bool { return true })
	s := c.service(t)
	var took []time.Duration
	for n := range 200 {
		id := fmt.Sprint("evt_", n)
		body := `{"id":"%s","tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}`
		s.say(fmt.Sprintf(`INSERT INTO outbox (tenant_id, body) SELECT 'acme', format('%s', 'other_%d_' || n)
	FROM generate_series(1, %d) AS n;`, body, n, others))
		begun := time.Now()
		s.say(fmt.Sprintf(insert, "acme", n, "'"+fmt.Sprintf(body, id)+"'"))
		for at := (time.Time{}); at.IsZero(); time.Sleep(time.Millisecond) {
			q.mu.Lock()
			if at = q.at[id]; !at.IsZero() {
				took = append(took, at.Sub(begun))
			}
			q.mu.Unlock()
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.end()
	slices.Sort(took)
	median := took[len(took)/2]
	t.Logf("%s: commit to SendMessage at %s: median %s, 95 %% within %s", language, name,
		median.Round(100*time.Microsecond), took[len(took)*95/100].Round(100*time.Microsecond))
	if others == 0 && median > 50*time.Millisecond {
		t.Errorf("the median is %s", median)
	}
}

// A relay on one core sends what waits. OUTBOX_EVENTS says how much.
func TestRelays_sendAThousandASecond(t *testing.T) {
	language, events := languages()[0], fromEnv(t, "OUTBOX_EVENTS", 20_000)
	c, q := newOutbox(t), newQueue()
	c.ask(t, fmt.Sprint("UPDATE outbox_bound SET upto = ", events))
	for begin := 0; begin < events; begin += 10_000 {
		c.ask(t, fmt.Sprintf(`INSERT INTO outbox (tenant_id, body) SELECT 'tenant_' || n %% 100, format(
	'{"id":"evt_%%s","tenant_id":"tenant_%%s","type":"user.updated","data":{"userId":"user_1","x":"%%s"}}',
	n, n %% 100, repeat('x', 300)) FROM generate_series(%d, %d) AS n`, begin+1, min(begin+10_000, events)))
	}
	r := newRunner(t, c, q, append([]string{"taskset", "-c", "0"}, relayIn(t, language)...),
		func(*runner, string) bool { return true })
	ended, took := r.until(t, c)
	cpu := ended.UserTime() + ended.SystemTime()
	t.Logf("%s: %d events in %s on one core, %.0f a second; %.0f a second of its CPU; the table has %s after %s vacuums",
		language, events, took.Round(100*time.Millisecond), float64(events)/took.Seconds(), float64(events)/cpu.Seconds(),
		c.ask(t, "SELECT pg_size_pretty(pg_total_relation_size('outbox'))"),
		c.ask(t, "SELECT autovacuum_count FROM pg_stat_user_tables WHERE relname = 'outbox'"))
	if len(q.taken) != events {
		t.Errorf("%d of %d events were sent", len(q.taken), events)
	}
}

// until runs a relay until nothing waits.
func (r *runner) until(t *testing.T, c cluster) (ended *os.ProcessState, took time.Duration) {
	t.Helper()
	cmd := exec.Command(r.command[0], r.command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = r.env, r.log, r.log
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for c.ask(t, "SELECT count(*) FROM (SELECT FROM outbox ORDER BY seq LIMIT 1) AS rest") != "0" {
		time.Sleep(100 * time.Millisecond)
	}
	took = time.Since(begun)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return cmd.ProcessState, took
}

// Texts that someone strange wrote: 200 MB of them, nested 100,000 deep, and a number of 10,000 digits. The relay reads
// none that is too large, sends the others, and sets aside what is no event.
func TestRelays_takeWhatStrangersWrite(t *testing.T) {
	language := languages()[0]
	c, q := newOutbox(t), newQueue()
	c.ask(t, `INSERT INTO outbox (tenant_id, body) VALUES
	('acme', '{"id":"evt_1"}' || repeat(' ', 200000000)), (repeat('t', 10000000), '{"id":"evt_2"}'),
	('acme', '{"id":"evt_3","data":' || repeat('[', 100000)), ('acme', '["evt_4"]'), ('acme', '{"id":5}'),
	('acme', 'evt_6'),
	('acme', '{"id":"evt_7","tenant_id":"acme","type":"user.updated","data":{"n":' || repeat('7', 10000) || '}}')`)
	r := newRunner(t, c, q, relayIn(t, language), func(*runner, string) bool { return true })
	ended, took := r.until(t, c)
	const aside = "SELECT string_agg(reason, ' ' ORDER BY seq) FROM outbox_refused"
	want := "MessageTooLong InvalidParameterValue InvalidMessageContents " +
		"InvalidMessageContents MissingId InvalidMessageContents"
	if language == "python" { // a list is read there
		want = strings.Replace(want, "InvalidMessageContents MissingId", "MissingId MissingId", 1)
	}
	if got := c.ask(t, aside); got != want {
		t.Errorf("set aside for %s, want %s", got, want)
	}
	if len(q.taken) != 1 || len(q.taken["evt_7"]) != 1 {
		t.Errorf("sent: %v", q.taken)
	}
	used := ended.SysUsage().(*syscall.Rusage).Maxrss / 1024
	t.Logf("%s: %s, %d MB of memory at most", language, took.Round(time.Millisecond), used)
	if used > 150 {
		t.Errorf("the relay has taken %d MB", used)
	}
}
