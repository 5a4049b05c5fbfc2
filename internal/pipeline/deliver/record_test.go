package deliver

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// contested is a table of which each write of a circuit fails, or finds that another process was faster.
type contested struct {
	Circuits
	err  error
	made int
	last circuit.Item // that was to be stored
}

func (c *contested) Store(_ context.Context, was, next circuit.Item) (stored circuit.Item, applied bool, err error) {
	c.made++
	c.last = next
	was.Version++
	return was, false, c.err
}

// An item takes 1,000 writes a second, refused ones too. Where many processes meet at the circuit of one endpoint, each
// that tried again in its next batch would keep all others from it.
func TestHandler_recordCircuits_triesOnceASecondWhateverBecomesOfIt(t *testing.T) {
	for name, row := range map[string]struct {
		err  error
		want int // writes of a try
	}{
		"others are faster":     {nil, 2},
		"the item is throttled": {errors.New("ThrottlingException"), 1},
	} {
		in(t, status(503), func(w *rig) {
			h := w.handler()
			table := &contested{Circuits: h.Tables.Circuits, err: row.err}
			h.Tables.Circuits = table
			for second := 1; second <= 3; second++ {
				for n := range 5 {
					w.processBy(h, w.retried(fmt.Sprint("e", second, n), "webhook_1", 1))
				}
				if got, want := table.made, second*row.want; got != want {
					w.Errorf("%s: %d writes in %d s, want %d", name, got, second, want)
				}
				time.Sleep(time.Second)
			}
			if _, tried := table.last.Recent.Share(time.Now()); tried != 11 { // two batches of five, and the one that wrote
				w.Errorf("%s: the last write counts %d attempts", name, tried)
			}
		})
	}
}
