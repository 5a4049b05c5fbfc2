package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"sync/atomic"
	"time"

	"herald.example/relay/publish"
)

// settings are the flags.
type settings struct {
	batch                int
	lease, poll, measure time.Duration
	most                 int64
}

// counts are what all workers did since the last metrics.
type counts struct {
	sent, refused, errors atomic.Int64
	well                  atomic.Bool // SQS has taken something since the last error
}

// relay claims rows, publishes them outside any transaction, and deletes what SQS took.
type relay struct {
	settings
	database  string
	log       *slog.Logger
	counts    *counts
	publisher publish.Publisher
	size      int           // of the next claim: 1 after an error, so that a row that causes errors is found
	wait      time.Duration // after the next error
}

const maxFailures = 20 // of one row while others go: an hour

// faulty matches the codes that say that a message will never be taken.
var faulty = regexp.MustCompile("TooLong|InvalidMessageContents|InvalidParameterValue|MissingParameter|MissingId")

// run works until the context ends. After an error it connects again, with growing waits.
func (r *relay) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := r.work(ctx); err != nil && ctx.Err() == nil {
			r.wait = min(max(2*r.wait, 100*time.Millisecond), 30*time.Second)
			r.counts.errors.Add(1)
			r.log.Error("relay", "error", err.Error(), "wait", r.wait.String())
			select {
			case <-time.After(r.wait):
			case <-ctx.Done():
			}
		}
	}
}

// work does rounds over one connection until an error. What is claimed is sent, even if the context ends meanwhile.
func (r *relay) work(ctx context.Context) error {
	db, err := open(ctx, r.database, true)
	if err != nil {
		return err
	}
	defer db.close()
	for ctx.Err() == nil {
		claimed, err := r.round(context.WithoutCancel(ctx), db)
		if err != nil {
			return err
		}
		r.wait = 0
		if claimed == 0 {
			if err := db.wait(ctx, r.poll); err != nil {
				return err
			}
		}
	}
	return nil
}

// round claims rows and publishes them. Those that failed before go last and alone, so that they hold up no other.
func (r *relay) round(ctx context.Context, db *database) (claimed int, err error) {
	rows, err := db.claim(ctx, r.size, r.lease)
	if err != nil {
		return 0, err
	}
	var together, alone []row
	for _, one := range rows {
		if one.failures == 0 {
			together = append(together, one)
		} else {
			alone = append(alone, one)
		}
	}
	if err := r.send(ctx, db, together); err != nil {
		return len(rows), err
	}
	for _, one := range alone {
		if err := r.send(ctx, db, []row{one}); err != nil {
			return len(rows), err
		}
	}
	return len(rows), nil
}

// send publishes rows within half of their lease, and settles them.
func (r *relay) send(ctx context.Context, db *database, rows []row) error {
	var done outcome
	var messages []publish.Message
	byMessage := map[publish.Message][]row{} // a service may have written one message twice
	for _, one := range rows {
		if reason := one.fault(); reason != "" {
			done.refuse(one, reason)
			continue
		}
		if byMessage[one.message] == nil {
			messages = append(messages, one.message)
		}
		byMessage[one.message] = append(byMessage[one.message], one)
	}
	publishing, cancel := context.WithTimeout(ctx, r.lease/2)
	defer cancel()
	notSent, failure := r.publisher.Publish(publishing, messages)
	if failure != nil {
		r.giveBack(&done, byMessage)
	} else {
		r.take(&done, byMessage, notSent)
	}
	if err := db.settle(ctx, done); err != nil {
		return err
	}
	r.counts.sent.Add(int64(len(done.sent)))
	r.counts.refused.Add(int64(len(done.refused)))
	return failure
}

// take sorts rows by what SQS said of them.
func (r *relay) take(done *outcome, byMessage map[publish.Message][]row, notSent []publish.NotSent) {
	reasons := map[publish.Message]string{}
	for _, one := range notSent {
		reasons[one.Message] = one.Reason
	}
	for message, rows := range byMessage {
		if _, failed := reasons[message]; failed {
			continue
		}
		for _, one := range rows {
			done.sent = append(done.sent, one.seq)
		}
	}
	went := len(done.sent) > 0
	blame := went || r.counts.well.Load()
	if went || len(reasons) > 0 {
		r.counts.well.Store(went)
	}
	if went {
		r.size = min(2*r.size, r.batch)
	}
	for message, reason := range reasons {
		for _, one := range byMessage[message] {
			judge(done, one, reason, blame)
		}
	}
}

// giveBack gives rows back after an error.
func (r *relay) giveBack(done *outcome, byMessage map[publish.Message][]row) {
	blame := r.counts.well.Swap(false)
	for _, rows := range byMessage {
		for _, one := range rows {
			if len(byMessage) == 1 {
				judge(done, one, "RequestFailed", blame)
			} else {
				done.release(one)
			}
		}
	}
	r.size = 1
}

// judge refuses a row for good, or puts it off. It is to blame if others went since the last failure; in an outage
// none is.
func judge(done *outcome, one row, reason string, blame bool) {
	switch {
	case faulty.MatchString(reason) || blame && one.failures+1 >= maxFailures:
		done.refuse(one, reason)
	case blame:
		done.delay(one, 1)
	default:
		done.delay(one, 0)
	}
}

// fault says why a row must not be sent: without an id, a second send would make a second event.
func (r row) fault() string {
	if r.large {
		return "MessageTooLong"
	}
	var fields map[string]json.RawMessage
	var id string
	if json.Unmarshal([]byte(r.message.Body), &fields) != nil {
		return "InvalidMessageContents"
	}
	if json.Unmarshal(fields["id"], &id) != nil || id == "" {
		return "MissingId"
	}
	return ""
}
