package circuit

import "time"

// Settings are the thresholds.
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
	PaceBudget    int           // likewise of those that wait for their rate: slots of 1,000 a second, 75,000

	Forget time.Duration // without a failure, until a failing endpoint is forgotten: 48 h
	Ahead  time.Duration // before it is due an item of Backlog is sent, delayed: 3 min

	FunctionTimeout time.Duration // of deliver: 30 s; no matter of policy, so never scaled

	Notices bool // owners get notices about their endpoints
}

// New returns the settings of a stage. Every time that is a matter of policy is in minutes of the given length, which
// is 5 s on the local stack; the function's timeout is deliver's.
func New(minute, functionTimeout time.Duration) Settings {
	return Settings{
		Failures: 5, Deliveries: 3, Span: 5 * minute,
		BusyFailures: 50, BusySpan: minute / 2,
		ReopenFailures: 5, ReopenSpan: minute / 2,
		Run:         minute,
		Probes:      []time.Duration{minute, 2 * minute, 4 * minute, 5 * minute},
		Reprobes:    []time.Duration{10 * minute, 20 * minute, 40 * minute, 60 * minute},
		RecoverOnce: 10 * minute, Lease: 5 * minute,
		Recovery: 120, RecoveryLimit: 960, CatchUp: 6 * 60 * minute, Budget: 18_000,
		PaceBudget: 75_000,
		Forget:     48 * time.Hour, Ahead: 3 * minute,
		FunctionTimeout: functionTimeout,
	}
}
