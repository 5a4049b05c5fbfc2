package health

import (
	"errors"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/retry"
)

// Settings are the thresholds. Default returns the product's; Scaled shortens every time that is
// a matter of policy, as the local stack does.
type Settings struct {
	// A failing endpoint opens after this many failures of this many deliveries over this long:
	Failures   int           // 5
	Deliveries int           // 3
	Span       time.Duration // 5 min
	// or, when it is busy, after this many failures over this long:
	BusyFailures int           // 50
	BusySpan     time.Duration // 30 s
	// A recovering endpoint opens again after this many failures over this long without a 2xx:
	ReopenFailures int           // 5
	ReopenSpan     time.Duration // 30 s

	Tick       time.Duration // between two runs of release: 1 min
	Probe      time.Duration // from opening to the first probe, doubled with every probe: 1 min
	ProbeLimit time.Duration // the longest time between two probes: 5 min

	Recovery      int           // items released in the first tick, doubled with every tick: 120
	RecoveryLimit int           // up to here: 960
	CatchUp       time.Duration // and beyond it while what is left would take longer than this: 6 h
	Budget        int           // items a tick, all endpoints together: 18,000

	Last         int           // last attempts a tick and open endpoint: 60
	LastPatience time.Duration // after which a delivery dies of the last probe's failure: 1 h
	Ahead        time.Duration // how long before it is due an item is sent, delayed: 3 min

	Forget  time.Duration // without a failure that counts, until a failing endpoint is forgotten: 48 h
	Discard time.Duration // how long discarded_before is kept: 8 d, longer than any life

	ViewAge time.Duration // of the oldest view that deliver acts upon: 1 min

	FunctionTimeout time.Duration // of deliver: 30 s; no matter of policy, so never scaled
}

// Default returns the settings of every deployed stage.
func Default() Settings {
	return Settings{
		Failures: 5, Deliveries: 3, Span: 5 * time.Minute,
		BusyFailures: 50, BusySpan: 30 * time.Second,
		ReopenFailures: 5, ReopenSpan: 30 * time.Second,
		Tick: time.Minute, Probe: time.Minute, ProbeLimit: 5 * time.Minute,
		Recovery: 120, RecoveryLimit: 960, CatchUp: 6 * time.Hour, Budget: 18_000,
		Last: 60, LastPatience: time.Hour, Ahead: 3 * time.Minute,
		Forget: 48 * time.Hour, Discard: retry.MaxLife + 24*time.Hour,
		FunctionTimeout: 30 * time.Second, ViewAge: time.Minute,
	}
}

// Scaled returns the settings with minutes of the given length: 5 s on the local stack.
func (s Settings) Scaled(minute time.Duration) Settings {
	for _, d := range []*time.Duration{
		&s.Span, &s.BusySpan, &s.ReopenSpan, &s.Tick, &s.Probe, &s.ProbeLimit, &s.CatchUp, &s.LastPatience, &s.Ahead,
		&s.ViewAge,
	} {
		*d = time.Duration(float64(*d) * (minute.Minutes()))
	}
	return s
}

// Validate names what cannot work.
func (s Settings) Validate() error {
	var errs []error
	for name, n := range map[string]int{
		"failures": s.Failures, "deliveries": s.Deliveries, "busy failures": s.BusyFailures,
		"reopen failures": s.ReopenFailures, "recovery": s.Recovery, "last": s.Last,
	} {
		if n < 1 {
			errs = append(errs, fmt.Errorf("%s must be at least 1", name))
		}
	}
	if s.Deliveries > s.Failures {
		errs = append(errs, errors.New("deliveries must be at most failures"))
	}
	if s.Tick <= 0 || s.Probe <= 0 || s.ProbeLimit < s.Probe {
		errs = append(errs, errors.New("tick and probe must be positive, the probe's limit at least the probe"))
	}
	if s.RecoveryLimit < s.Recovery || s.Budget < s.RecoveryLimit {
		errs = append(errs, errors.New("recovery must be at most its limit, and that at most the budget"))
	}
	if s.FunctionTimeout <= 0 || s.ViewAge < 0 {
		errs = append(errs, errors.New("the function's timeout must be positive, the age of a view not negative"))
	}
	return errors.Join(errs...)
}

// linger is how long after the last holding state a process may still hold something: the view
// that it acts on may be ViewAge old, and its batch may take two timeouts, late writes included.
func (s Settings) linger() time.Duration { return s.ViewAge + 2*s.FunctionTimeout }

// probeAfter is how long after the probe with this number, counted from the opening, the next
// one is due.
func (s Settings) probeAfter(probes int) time.Duration {
	wait := s.Probe
	for range probes {
		if wait >= s.ProbeLimit {
			break
		}
		wait *= 2
	}
	return min(wait, s.ProbeLimit)
}
