//go:build emulator

package outbox_test

import (
	"os"
	"strings"
	"testing"
)

// With the roles that schema.sql proposes, a service can write events and nothing else, whatever its search path is.
func TestRelays_leaveServicesNothingButToWriteEvents(t *testing.T) {
	t.Parallel()
	c := newOutbox(t)
	text, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	grants := "CREATE ROLE service; CREATE ROLE relay;"
	for line := range strings.Lines(string(text)) {
		if grant, ok := strings.CutPrefix(line, "--   GRANT"); ok {
			grants += "GRANT" + grant
		}
	}
	c.ask(t, grants)
	const as = "SET ROLE service; SET search_path = pg_catalog; "
	c.ask(t, as+strings.Replace(another, "outbox", "public.outbox", 1))
	for _, column := range []string{"leased_until", "written_at"} {
		sql := as + "INSERT INTO public.outbox (tenant_id, body, " + column + ") VALUES ('acme', '{}', 'infinity')"
		if out, err := c.psql("-c", sql).CombinedOutput(); !strings.Contains(string(out), "permission denied") {
			t.Errorf("a service sets %s: %v, %s", column, err, out)
		}
	}
	c.ask(t, `SET ROLE relay; SELECT body FROM outbox FOR UPDATE; UPDATE outbox SET leased_until = now(), failures = 1;
		WITH gone AS (DELETE FROM outbox RETURNING seq, tenant_id, body, written_at)
		INSERT INTO outbox_refused (seq, tenant_id, body, written_at, reason) SELECT gone.*, 'x' FROM gone;
		UPDATE outbox_bound SET upto = (SELECT last_value FROM outbox_seq_seq) + 9`)
	_, back, _ := strings.Cut(string(text), "--   WITH m")
	back, _, _ = strings.Cut(back, ";")
	c.ask(t, "WITH m"+strings.NewReplacer("\n--", "", "seq = 7", "seq = 1").Replace(back))
	if got := c.ask(t, state); got != "1|0|0" {
		t.Errorf("waiting, set aside and failures of what was moved back: %s", got)
	}
}
