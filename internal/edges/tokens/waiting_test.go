package tokens_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/tokens"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// All processes that deliver may wait for one token at once. DynamoDB takes 1,000 writes a second of one item, and
// 600 processes are the default.
//
// Threat of a tenant: has the table throttled by a token server that hangs. Held by: who waits for another process's
// token asks the table less and less often.
func TestKeeper_Token_sparesTheTableWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const processes = 600
		f := newFleet(t, processes, func(int) model.TokenAnswer {
			return model.TokenAnswer{Reason: delivery.ReasonTokenUnreachable, Took: time.Hour}
		})
		var counting sync.Mutex
		writes := map[time.Duration]int{} // by second
		f.m.Judge = func(c *model.Call) model.Verdict {
			counting.Lock()
			defer counting.Unlock()
			if c.Name == "Keep tokens" {
				writes[time.Since(f.began).Truncate(time.Second)]++
			}
			return model.Done
		}
		w := f.wanted("webhook_1", "a")
		var waiting sync.WaitGroup
		for n, process := range f.all {
			waiting.Go(func() {
				time.Sleep(time.Duration(n) * token.Patience / processes) // batches do not begin at once
				get(t, process, w)
				get(t, process, w)
			})
		}
		waiting.Wait()
		t.Logf("writes by second: %v", writes)
		for second, n := range writes {
			if n > 1000 {
				t.Errorf("%d writes after %s", n, second)
			}
		}
	})
}

func get(t *testing.T, k *tokens.Keeper, w tokens.Wanted) {
	t.Helper()
	if _, _, err := k.Token(t.Context(), w); err != nil {
		t.Error(err)
	}
}
