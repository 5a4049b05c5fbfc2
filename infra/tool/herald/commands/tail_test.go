package commands

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

func TestTail_showsWhatIsWantedUntilNobodyReads(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(stack.LocalLogs, 0o700); err != nil {
		t.Fatal(err)
	}
	const at = "2026-05-02T08:59:59.123Z"
	line := func(tenant, endpoint, outcome, reason string) string {
		return `{"timestamp":"` + at + `","tenant_id":"` + tenant + `","endpoint_id":"` + endpoint +
			`","outcome":"` + outcome + `","reason":"` + reason + `"}` + "\n"
	}
	const wanted = "--local tail --tenant acme --endpoint webhook_1 --outcome retry"
	lines := line("other", "webhook_1", "retry", "") + line("acme", "webhook_2", "retry", "") +
		line("acme", "webhook_1", "dead", "") + strings.Repeat(line("acme", "webhook_1", "retry", "timeout"), 2)
	write := func(text string) {
		if err := os.WriteFile(stack.LocalLog, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, w := io.Pipe()
		code := make(chan int)
		go func() {
			code <- new(fake).run(ctx, &terminal.Terminal{Out: w, Err: io.Discard, Now: clock}, strings.Fields(wanted)...)
		}()
		synctest.Wait()
		write(lines)
		first := make([]byte, 4096) // a write is a line
		if n, err := r.Read(first); err != nil || !bytes.HasPrefix(first[:n], []byte(at+"  acme  webhook_1  ")) {
			t.Errorf("%s, %v", first[:n], err)
		}
		_ = r.Close()
		if got := <-code; got != exit.Failed || ctx.Err() != nil {
			t.Errorf("exit code %d, %v", got, ctx.Err())
		}
	})
}
