package circuit

import "time"

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

	Run time.Duration // between two runs of release: 1 min

	Probes      []time.Duration // waits between probes: 1, 2, 4, 5 min; the last repeats
	Reprobes    []time.Duration // the same after a recovery has failed: 10, 20, 40, 60 min
	RecoverOnce time.Duration   // between the beginnings of two recoveries of an endpoint: 10 min
	Lease       time.Duration   // of a lease to hold deliveries: 5 min, or four function timeouts if that is longer

	Recovery      int           // deliveries sent in the first run of a recovery, doubled with every run: 120
	RecoveryLimit int           // up to here: 960
	CatchUp       time.Duration // and beyond it while the rest would take longer than this: 6 h
	Budget        int           // deliveries a run, all endpoints together: 18,000

	Forget time.Duration // without a failure, until a failing endpoint is forgotten: 48 h
	Ahead  time.Duration // before it is due an item of Backlog is sent, delayed: 3 min

	FunctionTimeout time.Duration // of deliver: 30 s; no matter of policy, so never scaled

	Notices bool // owners get notices about their endpoints
}

// Default returns the settings of every deployed stage.
func Default() Settings {
	return Settings{
		Failures: 5, Deliveries: 3, Span: 5 * time.Minute,
		BusyFailures: 50, BusySpan: 30 * time.Second,
		ReopenFailures: 5, ReopenSpan: 30 * time.Second,
		Run:         time.Minute,
		Probes:      []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute},
		Reprobes:    []time.Duration{10 * time.Minute, 20 * time.Minute, 40 * time.Minute, 60 * time.Minute},
		RecoverOnce: 10 * time.Minute, Lease: 5 * time.Minute,
		Recovery: 120, RecoveryLimit: 960, CatchUp: 6 * time.Hour, Budget: 18_000,
		Forget: 48 * time.Hour, Ahead: 3 * time.Minute,
		FunctionTimeout: 30 * time.Second,
	}
}

// Scaled returns the settings with minutes of the given length: 5 s on the local stack.
func (s Settings) Scaled(minute time.Duration) Settings {
	scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) * minute.Minutes()) }
	for _, d := range []*time.Duration{
		&s.Span, &s.BusySpan, &s.ReopenSpan, &s.Run, &s.RecoverOnce, &s.Lease, &s.CatchUp, &s.Ahead,
	} {
		*d = scale(*d)
	}
	s.Probes, s.Reprobes = scaled(s.Probes, scale), scaled(s.Reprobes, scale)
	return s
}

func scaled(waits []time.Duration, scale func(time.Duration) time.Duration) []time.Duration {
	shorter := make([]time.Duration, len(waits))
	for n, d := range waits {
		shorter[n] = scale(d)
	}
	return shorter
}
