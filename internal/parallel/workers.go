package parallel

// Workers runs functions side by side in goroutines that it keeps: a new one begins with a small stack and
// copies it as it grows. It keeps at most twice as many as ever ran at once. A nil Workers keeps none.
type Workers struct{ work chan func() }

// NewWorkers returns Workers that have no goroutine yet.
func NewWorkers() *Workers { return &Workers{work: make(chan func())} }

// Go runs do, which must not panic, in a goroutine, and returns at once.
func (w *Workers) Go(do func()) {
	if w == nil {
		go do()
		return
	}
	select {
	case w.work <- do:
	default:
		go w.run(do)
	}
}

func (w *Workers) run(do func()) {
	for {
		do()
		do = <-w.work
	}
}
