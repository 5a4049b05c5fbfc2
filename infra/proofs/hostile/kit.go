package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"

	"github.com/herald-webhooks/herald/internal/testkit/pki"
	"github.com/herald-webhooks/herald/internal/testkit/receivers"
)

// kit are the receivers that run.
type kit struct {
	scope     *scope
	authority string // file with the certificate of the authority that the sender has to trust
	fine      string // URL of a receiver that behaves
	cases     []hosted
}

// hosted is a case with its receiver.
type hosted struct {
	receivers.Case
	receivers.Target
}

// start starts the receivers of the chosen cases.
func start(o options) (*kit, error) {
	k := &kit{scope: &scope{}}
	if err := k.start(o.chosen()); err != nil {
		k.end()
		return nil, err
	}
	return k, nil
}

func (k *kit) start(cases []receivers.Case) error {
	if len(cases) == 0 {
		return errors.New("no case matches -match")
	}
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		return fmt.Errorf("making a folder for the authority's certificate: %w", err)
	}
	k.scope.Cleanup(func() { _ = os.RemoveAll(dir) })
	var ca *receivers.CA
	err = k.scope.guard(func() {
		ca = receivers.NewCA(k.scope)
		k.fine = receivers.New(k.scope, ca, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
		for _, c := range cases {
			k.cases = append(k.cases, hosted{c, c.Start(k.scope, ca)})
		}
	})
	if err != nil {
		return err
	}
	files, err := ca.Write(dir, pki.Leaf{})
	k.authority = files.CA
	return err
}

// end ends all receivers.
func (k *kit) end() { k.scope.end() }

// scope is the life of the receivers: the process's. It takes the place of a test.
type scope struct {
	mu       sync.Mutex
	cleanups []func()
	failed   error
}

// errStopped unwinds to guard.
var errStopped = errors.New("stopped")

// guard runs f until its end, or until it calls Fatalf, and returns the failures.
func (s *scope) guard(f func()) (err error) {
	defer func() {
		r := recover()
		if stopped, ok := r.(error); r != nil && (!ok || !errors.Is(stopped, errStopped)) {
			panic(r)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		err = s.failed
	}()
	f()
	return nil
}

// Helper is of no use outside of a test.
func (s *scope) Helper() {}

// Cleanup registers f to run at the end.
func (s *scope) Cleanup(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, f)
}

// Errorf remembers a failure of a receiver.
func (s *scope) Errorf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = errors.Join(s.failed, fmt.Errorf(format, args...))
}

// Fatalf remembers a failure and unwinds to guard.
func (s *scope) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	panic(errStopped)
}

// end runs the registered functions, the last first.
func (s *scope) end() {
	s.mu.Lock()
	cleanups := s.cleanups
	s.cleanups = nil
	s.mu.Unlock()
	for i := len(cleanups) - 1; i >= 0; i-- {
		cleanups[i]()
	}
}
