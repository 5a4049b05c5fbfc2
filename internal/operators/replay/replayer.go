package replay

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/parallel"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// replayer takes the steps of a replay that change something: it claims the dead letter, puts the delivery's state
// back to queued, sends the message and ends the replay, in this order. A replay that breaks off between two of these
// steps is resumed by the next one.
type replayer struct {
	letters Claims
	states  States

	// DeliveryQueue, for letters that an operator names.
	deliveries Sender

	// RetryQueue, for jobs: no first attempt waits behind them.
	retries Sender

	now func() time.Time
}

// claim takes the dead letter, so that no other replay of it runs.
func (r replayer) claim(ctx context.Context, l letter) (letter, error) {
	number, fresh, ok, err := r.letters.Claim(ctx, l.record, l.run.Operator, l.run.ID, l.run.now)
	if err != nil {
		return l, err
	}
	l.message.Replay, l.fresh = number, fresh
	if !ok {
		return l.ended(api.ResultRefused, api.ReasonChanged), nil
	}
	return l, nil
}

// queue puts the delivery's state back to queued. Where the state cannot go back, the delivery was acknowledged, or an
// earlier run of this same replay has sent it before it broke off. There is nothing to send then.
func (r replayer) queue(ctx context.Context, l letter) (letter, error) {
	written, err := r.states.Update(ctx, r.state(l, delivery.Queued, delivery.ReasonReplayed))
	if written && err == nil {
		return l, nil
	}
	// The claim must not stay, even where time is over: it would keep other replays away until it is stale.
	finish, cancel := invoke.Finishing(ctx)
	defer cancel()
	if err != nil {
		return l, errors.Join(err, r.end(finish, l, deadletter.Dead))
	}
	if err := r.end(finish, l, deadletter.Replayed); err != nil {
		return l, err
	}
	if l.fresh {
		return l.ended(api.ResultRefused, api.ReasonAlreadyAcknowledged), nil
	}
	return l.ended(api.ResultReplayed, api.ReasonResumed), nil
}

// send sends the letters of a run together, and ends their replays. The answer has a letter and an error for each.
func (r replayer) send(ctx context.Context, letters []letter) ([]letter, []error) {
	messages := make([]queue.Outgoing, len(letters))
	for i, l := range letters {
		messages[i] = queue.Of(l.message, 0)
	}
	to := r.deliveries
	if letters[0].run.byJob() {
		to = r.retries
	}
	sent := to.Send(ctx, messages)
	finish, cancel := invoke.Finishing(ctx)
	defer cancel()
	ended := slices.Clone(letters)
	errs := parallel.Each(len(letters), chunk, func(i int) (err error) {
		if sent[i] != nil {
			ended[i], err = r.giveUp(finish, letters[i])
			return errors.Join(sent[i], err)
		}
		// Where the end is not stored, the claim grows stale and the next replay ends it.
		ended[i] = letters[i].ended(api.ResultReplayed, "")
		return r.end(finish, letters[i], deadletter.Replayed)
	})
	return ended, errs
}

// giveUp makes the letter of a message that was not sent dead again.
func (r replayer) giveUp(ctx context.Context, l letter) (letter, error) {
	_, err := r.states.Update(ctx, r.state(l, delivery.Dead, delivery.ReasonReplayFault))
	return l.ended(api.ResultFailed, api.ReasonNotSent), errors.Join(err, r.end(ctx, l, deadletter.Dead))
}

// end ends the replay of a letter, which is replayed then, or dead again.
func (r replayer) end(ctx context.Context, l letter, status deadletter.Status) error {
	return r.letters.EndReplay(ctx, l.id, l.message.Replay, status, r.now())
}

// state is the record of a letter's delivery in a state.
func (r replayer) state(l letter, state delivery.State, reason delivery.Reason) delivery.Record {
	return delivery.Record{
		Ref: l.message.Ref, EventType: l.record.EventType, TraceID: l.message.Trace.TraceID(), State: state,
		Reason: reason, LastStatus: l.record.LastStatus, UpdatedAt: r.now(),
	}
}
