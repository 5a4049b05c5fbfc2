package health

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWrite_Apply(t *testing.T) {
	next := stored(Open, func(i *Item) { i.Version = 8 })
	bare := stored(Failing, func(i *Item) { i.Version, i.Failures = 9, 3 })
	gone := Item{TenantID: "tenant", EndpointID: "webhook_1"}
	run := stored(Recovering, func(i *Item) {
		i.Failures, i.FailingSince, i.FailedAt, i.Deliveries = 2, epoch, epoch, []string{"msg_1"}
	})
	for name, row := range map[string]struct {
		write  Write
		stored Item
		want   Item
		ok     bool
	}{
		"put over the version read":        {Write{Kind: Put, If: 7, Item: next}, stored(Failing, nil), next, true},
		"put over nothing":                 {Write{Kind: Put, Item: next}, gone, next, true},
		"put over something unread":        {Write{Kind: Put, Item: next}, bare, bare, false},
		"put over a later version":         {Write{Kind: Put, If: 7, Item: next}, bare, bare, false},
		"put over what has gone":           {Write{Kind: Put, If: 7, Item: next}, gone, gone, false},
		"delete of the version read":       {Write{Kind: Delete, If: 9}, bare, gone, true},
		"delete of a later version":        {Write{Kind: Delete, If: 8}, bare, bare, false},
		"clearing failures of any version": {Write{Kind: ClearFailing}, bare, gone, true},
		"not where something is held":      {Write{Kind: ClearFailing}, next, next, false},
		"clearing the run of any version": {
			Write{Kind: ClearRun}, run, stored(Recovering, func(i *Item) { i.Version = 8 }), true,
		},
		"not where it is not recovering any more": {Write{Kind: ClearRun}, next, next, false},
		"nothing": {Write{}, bare, bare, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := row.write.Apply(row.stored)
			if diff := cmp.Diff(row.want, got); diff != "" || ok != row.ok {
				t.Errorf("applied: %v, want %v (-want +got)\n%s", ok, row.ok, diff)
			}
		})
	}
}

// An item that was removed and created again has a new version, so that a write about the one that
// was removed is refused.
func TestItem_versionsAreNotUsedTwice(t *testing.T) {
	w := newWorld().observe(failures(2)...)
	first := w.view.Endpoint.Version
	w = w.after(time.Second).observe(Result{OK: true}).after(time.Second).observe(failures(2)...)
	if again := w.view.Endpoint.Version; again <= first {
		t.Errorf("version %d after %d", again, first)
	}
}

func TestSettings(t *testing.T) {
	s := Default()
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	local := s.Scaled(5 * time.Second)
	if err := local.Validate(); err != nil {
		t.Error(err)
	}
	got := []time.Duration{
		local.Span, local.BusySpan, local.ReopenSpan, local.Tick, local.ProbeLimit, local.FunctionTimeout,
	}
	want := []time.Duration{
		25 * time.Second, 2500 * time.Millisecond, 2500 * time.Millisecond,
		5 * time.Second, 25 * time.Second, 30 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a minute of 5 s (-want +got)\n%s", diff)
	}
	for name, change := range map[string]func(*Settings){
		"no failures":               func(s *Settings) { s.Failures = 0 },
		"more deliveries":           func(s *Settings) { s.Deliveries = 6 },
		"no busy failures":          func(s *Settings) { s.BusyFailures = 0 },
		"no failures to reopen":     func(s *Settings) { s.ReopenFailures = 0 },
		"no tick":                   func(s *Settings) { s.Tick = 0 },
		"no probe":                  func(s *Settings) { s.Probe = 0 },
		"a probe beyond its limit":  func(s *Settings) { s.ProbeLimit = time.Second },
		"no recovery":               func(s *Settings) { s.Recovery = 0 },
		"recovery beyond its limit": func(s *Settings) { s.RecoveryLimit = 119 },
		"no budget":                 func(s *Settings) { s.Budget = 0 },
		"no last attempts":          func(s *Settings) { s.Last = 0 },
		"no timeout":                func(s *Settings) { s.FunctionTimeout = 0 },
		"views of the future":       func(s *Settings) { s.ViewAge = -1 },
	} {
		broken := Default()
		if change(&broken); broken.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	edge := Default()
	edge.Failures, edge.Deliveries, edge.BusyFailures, edge.ReopenFailures, edge.Last = 1, 1, 1, 1, 1
	edge.Recovery, edge.RecoveryLimit, edge.Budget, edge.ViewAge = 1, 1, 1, 0
	edge.ProbeLimit = edge.Probe
	if err := edge.Validate(); err != nil {
		t.Errorf("the smallest settings: %v", err)
	}
}
