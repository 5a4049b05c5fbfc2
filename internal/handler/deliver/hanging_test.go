package deliver

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/queue"
)

// board is the Marks of all processes.
type board struct {
	mu    sync.Mutex
	marks map[[2]string]time.Time
	fail  error
}

func (b *board) Mark(_ context.Context, endpointID, holder string, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.marks == nil {
		b.marks = map[[2]string]time.Time{}
	}
	b.marks[[2]string{endpointID, holder}] = now
	return b.fail
}

func (b *board) Since(_ context.Context, since time.Time) (map[string]int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	holders := map[string]int{}
	for key, at := range b.marks {
		if at.After(since) {
			holders[key[0]]++
		}
	}
	return holders, b.fail
}

func (b *board) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.marks)
}

// member is the handler of one process that shares the board.
func member(w *world, b *board, name string, limit int) *Handler {
	h := w.handler()
	h.Now = time.Now // synctest's clock
	h.Hanging = &Hanging{Store: b, Holder: name, Suspect: 1500 * time.Millisecond, Limit: limit, Window: time.Minute}
	return h
}

func TestHanging_divertsAnEndpointThatHoldsProcessesUpInAllOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := newWorld(func(ctx context.Context, url string) delivery.Response {
			if strings.HasSuffix(url, "webhook_1") {
				return hang(ctx, url)
			}
			return delivery.Response{Status: 200}
		})
		b := &board{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var wait sync.WaitGroup
		for _, name := range []string{"p1", "p2"} {
			wait.Go(func() { member(slow, b, name, 2).Process(ctx, []queue.Record{fresh(name, "webhook_1")}) })
		}
		time.Sleep(time.Second)
		if synctest.Wait(); b.count() != 0 {
			t.Error("marked before anybody can suspect it")
		}
		time.Sleep(time.Second)
		if synctest.Wait(); b.count() != 2 {
			t.Fatalf("%d marks, want one from each process while its attempt goes on", b.count())
		}

		other := newWorld(status(200))
		p3 := member(other, b, "p3", 2)
		started := time.Now()
		failed := p3.Process(ctx, []queue.Record{fresh("c", "webhook_1"), fresh("d", "webhook_2")})
		other.did(t, failed, effects{Posts: 1, Acknowledged: 1, States: 1, Sent: waits(5 * time.Second)})
		next := started.Add(5 * time.Second)
		other.knows(t, 0, known{State: delivery.Retrying, Reason: delivery.ReasonEndpointHanging, Next: next})
		if m := other.moved(t); m.DeliveryID != "c" || m.Attempts != 0 {
			t.Errorf("moved %+v", m)
		}
		if took := time.Since(started); took != 0 {
			t.Errorf("a diverted attempt took %s", took)
		}
		// From RetryQueue it gets its POST all the same.
		p3.Process(ctx, []queue.Record{retried("e", "webhook_1", 1)})
		if len(other.posts) != 2 {
			t.Error("a retry was diverted")
		}
		wait.Wait()
		if len(slow.posts) != 2 || len(slow.sent) != 2 || slow.states[0].Reason != delivery.ReasonTimeout {
			t.Errorf("the attempts that hang keep their full time: %d posts, %d moved, %+v",
				len(slow.posts), len(slow.sent), slow.states)
		}

		time.Sleep(2 * time.Minute) // the marks run out
		p3.Process(ctx, []queue.Record{fresh("f", "webhook_1")})
		if len(other.posts) != 3 {
			t.Error("an endpoint is diverted for ever")
		}
	})
}

func TestHanging_diverts_nothingThatHoldsFewerProcessesThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{}
		if err := b.Mark(t.Context(), "webhook_1", "p1", time.Now()); err != nil {
			t.Fatal(err)
		}
		w := newWorld(status(200))
		member(w, b, "p2", 2).Process(t.Context(), []queue.Record{fresh("a", "webhook_1")})
		if len(w.posts) != 1 {
			t.Error("one slow answer diverts an endpoint that may hold two processes")
		}
		// Many hanging endpoints share what one could have.
		if err := b.Mark(t.Context(), "webhook_2", "p1", time.Now()); err != nil {
			t.Fatal(err)
		}
		member(w, b, "p3", 2).Process(t.Context(), []queue.Record{fresh("b", "webhook_1")})
		if len(w.posts) != 1 {
			t.Error("two hanging endpoints hold more processes than one could")
		}
	})
}

func TestHanging_leavesNoMarkOfQuickAnswersAndOutlivesAnUnreadableBoard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{fail: errAWS}
		w := newWorld(status(200))
		failed := member(w, b, "p1", 1).Process(t.Context(), []queue.Record{fresh("a", "webhook_1")})
		w.did(t, failed, effects{Posts: 1, Acknowledged: 1})
		time.Sleep(time.Minute)
		if synctest.Wait(); b.count() != 0 {
			t.Error("a quick answer left a mark")
		}
	})
}

func TestHanging_divertsWhileRetriesHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		slow := newWorld(hang)
		var wait sync.WaitGroup
		wait.Go(func() { member(slow, b, "p1", 1).Process(ctx, []queue.Record{retried("a", "webhook_1", 1)}) })
		time.Sleep(5 * time.Second)
		w := newWorld(status(200))
		member(w, b, "p2", 1).Process(ctx, []queue.Record{fresh("b", "webhook_1")})
		if len(w.posts) != 0 || countReason(w.states, delivery.ReasonEndpointHanging) != 1 {
			t.Errorf("%d posts, states %+v", len(w.posts), w.states)
		}
		wait.Wait()
		if len(slow.posts) != 1 {
			t.Errorf("the retry was POSTed %d times", len(slow.posts))
		}
	})
}
