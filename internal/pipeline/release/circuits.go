package release

import (
	"context"
	"log/slog"

	"github.com/herald-webhooks/herald/internal/edges/telemetry"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
)

// Circuits stores circuits (dynamo.Circuits).
type Circuits interface {
	Store(ctx context.Context, was, next circuit.Item) (stored circuit.Item, applied bool, err error)
}

// circuitWriter writes changes of circuits. An attempt may change a circuit at the same time, so a change is stored
// only in place of the item that it was made from.
type circuitWriter struct {
	table Circuits
	log   *slog.Logger
}

// store stores an item in place of another, and logs a change of state. Where another writer was faster, applied is
// false and stored is the item of that writer.
func (w circuitWriter) store(
	ctx context.Context, was, next circuit.Item,
) (stored circuit.Item, applied bool, err error) {
	stored, applied, err = w.table.Store(ctx, was, next)
	if err == nil && applied && was.State != next.State {
		w.log.InfoContext(ctx, "circuit changed",
			telemetry.KeyEndpoint, next.EndpointID, "from", was.State.String(), "to", next.State.String())
	}
	return stored, applied, err
}

// change stores an item's change, if there is one. An attempt may have changed the item since it was read. Then the
// change is refused, and is asked for once more on the item as it is now.
func (w circuitWriter) change(
	ctx context.Context, i circuit.Item, next func(circuit.Item) (to circuit.Item, store bool),
) error {
	for range 2 {
		to, store := next(i)
		if !store || i.Version == 0 {
			return nil
		}
		stored, applied, err := w.store(ctx, i, to)
		if err != nil || applied {
			return err
		}
		i = stored
	}
	return nil
}
