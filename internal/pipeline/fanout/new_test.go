package fanout

import (
	"testing"

	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

func TestNew_takesItsSettings(t *testing.T) {
	h, err := New(Config{Settings: Settings{
		MaximumConcurrency: 200, AttemptTimeout: 15, SchemaCheck: checkWarn, SuccessLogSample: 2.5,
		EventsMaxReceiveCount: 50,
		DeliveryQueueURL:      "deliveries", SlowQueueURL: "slow", EventsDeadLetterQueueURL: "rejected",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if h.SchemaCheck != checkWarn {
		t.Errorf("schemas are checked: %s", h.SchemaCheck)
	}
	for _, c := range catalogue.Types() {
		compiled, err := h.schemas[c.Name]()
		if err == nil {
			_, err = compiled.Check([]byte(c.Example), maxOne)
		}
		if err != nil {
			t.Errorf("the schema of %s: %v", c.Name, err)
		}
	}
	if h.Sample != 2.5 || h.MaxReceives != 50 {
		t.Errorf("the sample is %v, an event is given up after %d receives", h.Sample, h.MaxReceives)
	}
	for want, got := range map[queue.Sender]Sender{
		{URL: "deliveries"}: h.Deliveries, {URL: "slow"}: h.SlowQueue, {URL: "rejected", Events: true}: h.Rejected,
	} {
		q := got.(queue.Sender)
		q.Client = nil
		if q != want {
			t.Errorf("sends to %+v, want %+v", q, want)
		}
	}
}

func TestNew_namesTheSettingAtFault(t *testing.T) {
	none := Settings{MaximumConcurrency: 2, AttemptTimeout: 1, SchemaCheck: "false"}
	for want, s := range map[string]Settings{
		"SCHEMA_CHECK must be off, warn or reject":                          none,
		"SUCCESS_LOG_SAMPLE must be 0 to 100":                               {SuccessLogSample: 101},
		"MAXIMUM_CONCURRENCY must be at least 2, ATTEMPT_TIMEOUT_SECONDS 1": {},
	} {
		if _, err := New(Config{Settings: s}); err == nil || err.Error() != "reading the environment: "+want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
