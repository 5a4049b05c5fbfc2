package deliver

import (
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// The service levels count from the event's SendMessage, or from the replay.
func TestHandler_Process_measuresServiceLevels(t *testing.T) {
	const first, acknowledged = `"FirstAttemptSeconds":[`, `"AcknowledgedSeconds":[`
	message := func(w *rig) delivery.Message {
		m := message("e", "webhook_1")
		m.CreatedAt = w.born.Add(-40 * time.Second)
		return m
	}
	for name, row := range map[string]struct {
		status  int
		record  func(w *rig) events.SQSMessage
		want    []string
		without []string
	}{
		"a first attempt": {204, func(w *rig) events.SQSMessage { return w.on("delivery", 1, message(w)) },
			[]string{first + "40]", acknowledged + "40]", `"AttemptMillis":[1]`}, nil},
		"one that fails": {503, func(w *rig) events.SQSMessage { return w.on("delivery", 1, message(w)) },
			[]string{first + "40]", `"FirstAttemptsAcknowledged":[0]`}, []string{acknowledged}},
		"a retry": {204, func(w *rig) events.SQSMessage {
			m := message(w)
			m.Attempts, m.Life = 1, delivery.Life{StartedAt: w.born, DueAt: w.born}
			return w.on("retry", 1, m)
		}, []string{acknowledged + "40]"}, []string{first, "FirstAttemptsAcknowledged"}},
		"a replay": {204, func(w *rig) events.SQSMessage {
			m := message(w)
			m.Replay, m.Life.StartedAt = 2, w.born.Add(-3*time.Second)
			return w.on("delivery", 1, m)
		}, []string{first + "3]", acknowledged + "3]", `"Replayed":[1]`}, nil},
		"a job's replay": {204, func(w *rig) events.SQSMessage {
			m := message(w)
			m.Replay, m.Life.StartedAt = 2, w.born.Add(-3*time.Second)
			return w.on("retry", 1, m)
		}, []string{acknowledged + "3]", `"Replayed":[1]`}, []string{first, "FirstAttemptsAcknowledged"}},
		"one of a slow tenant": {204, func(w *rig) events.SQSMessage { return w.on("slow", 1, message(w)) },
			[]string{acknowledged + "40]"}, []string{first}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, status(row.status), func(w *rig) {
				w.process(row.record(w))
				if !w.logged(row.want...) {
					w.Errorf("no line has %q\n%s", row.want, w.logs)
				}
				for _, text := range row.without {
					if w.logged(text) {
						w.Errorf("a line has %q\n%s", text, w.logs)
					}
				}
			})
		})
	}
}

// The alarm on the heartbeat goes off where nothing is counted.
func TestHandler_Process_countsHeartbeats(t *testing.T) {
	for name, row := range map[string]struct {
		heartbeat string // the tenant
		status    int
		message   delivery.Message
		counted   bool
	}{
		"acknowledged":        {"acme", 204, message("e", "webhook_1"), true},
		"failed":              {"acme", 503, message("e", "webhook_1"), false},
		"of another tenant":   {"heartbeat", 204, message("e", "webhook_1"), false},
		"none is expected":    {"", 204, message("e", "webhook_1"), false},
		"an operator's test":  {"acme", 204, trial("e", "webhook_1"), false},
		"of a missing tenant": {"", 204, delivery.Message{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, status(row.status), func(w *rig) {
				h := w.handler()
				h.Output.Heartbeat = row.heartbeat
				w.processBy(h, w.on("delivery", 1, row.message))
				if got := w.logged(`"HeartbeatsAcknowledged":[1]`); got != row.counted || !w.logged(`"Records":[1]`) {
					w.Errorf("a heartbeat is counted: %v\n%s", got, w.logs)
				}
			})
		})
	}
}
