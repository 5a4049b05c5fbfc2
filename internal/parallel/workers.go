package parallel

// Workers runs functions side by side in goroutines that it keeps, with the stacks that they have grown:
// a new goroutine begins with a small one, and copies it as it grows. It keeps as many as ever ran at
// once. A nil Workers keeps none.
type Workers struct{ work chan func() }

// NewWorkers returns Workers that have no goroutine yet.
func NewWorkers() *Workers { return &Workers{work: make(chan func())} }

// Go runs do, which must not panic, in a goroutine.
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
