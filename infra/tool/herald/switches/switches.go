// Package switches turns a stack off and on: the mappings from its queues to its functions, and the schedule of
// release.
//
// It promises that a start turns on exactly the switches that a stop has turned off. A stop marks each switch, by a tag
// in AWS, before it turns the switch off, and a start follows the marks alone. So any operator may start a stack that
// another has stopped. A stop or start that broke off is completed by running it again, and a switch that was off
// before stays off. It never sets a reserved concurrency: Lambda would go on receiving, until messages are in the
// dead-letter queues.
package switches

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Switch is a mapping or a schedule.
type Switch struct {
	Name string // for operators: "prod-RetryQueue to prod-deliver"

	device device
	marks  marks
}

// device is the part of a switch that turns.
type device interface {
	// state is [on] or [off], or [changing] for a change that is under way.
	state(ctx context.Context) (state, error)
	// turn begins a change. It fails with errBusy while another is under way.
	turn(ctx context.Context, to state) error
}

// state is the state of a switch.
type state string

const (
	on       state = "on"
	off      state = "off"
	changing state = "changing"
)

// errBusy is the refusal of a change because of one that is under way.
var errBusy = errors.New("another change is under way")

// marks are on the resource in AWS that a switch belongs to.
type marks interface {
	read(ctx context.Context) (mark string, err error) // "" where there is none
	write(ctx context.Context, mark string) error
	remove(ctx context.Context) error
}

// Is tells the state of a switch, and the mark of a stop, "" for none.
func (s Switch) Is(ctx context.Context) (is, marked string, err error) {
	now, err := s.device.state(ctx)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", s.Name, err)
	}
	mark, err := s.marks.read(ctx)
	if err != nil {
		return "", "", fmt.Errorf("%s: reading its mark: %w", s.Name, err)
	}
	return string(now), mark, nil
}

// The results of a stop and of a start.
const (
	Stopped        = "stopped"
	StoppedBefore  = "stopped before"
	OffBefore      = "was off before" // and not by a stop
	Started        = "started"
	OnBefore       = "is on"
	StaysOff       = "stays off: herald stop did not turn it off"
	StoppedByOther = "stopped again by somebody else"
)

// Stop turns a switch off, waits until it is, and leaves a mark. Where the switch is off already, it stays unmarked, or
// as it was marked.
func (s Switch) Stop(ctx context.Context, mark string) (result string, err error) {
	result, err = s.stop(ctx, mark)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.Name, err)
	}
	return result, nil
}

func (s Switch) stop(ctx context.Context, mark string) (string, error) {
	before, err := s.steady(ctx)
	if err != nil {
		return "", err
	}
	if before == off {
		return s.offBefore(ctx)
	}
	if err := s.marks.write(ctx, mark); err != nil { // first: a stop that breaks off here has turned nothing off
		return "", fmt.Errorf("marking it: %w", err)
	}
	if err := s.turn(ctx, off); err != nil {
		return "", err
	}
	return Stopped, s.keepMark(ctx, mark)
}

// offBefore tells a switch that a stop has turned off from one that was turned off by hand.
func (s Switch) offBefore(ctx context.Context) (string, error) {
	mark, err := s.marks.read(ctx)
	if err != nil {
		return "", fmt.Errorf("reading its mark: %w", err)
	}
	if mark == "" {
		return OffBefore, nil
	}
	return StoppedBefore, nil
}

// keepMark writes the mark again if a start, which ran at the same time, has removed it.
func (s Switch) keepMark(ctx context.Context, mark string) error {
	found, err := s.marks.read(ctx)
	if err == nil && found == "" {
		err = s.marks.write(ctx, mark)
	}
	if err != nil {
		return fmt.Errorf("keeping its mark: %w", err)
	}
	return nil
}

// Start turns a switch on that has a mark, waits until it is on, and removes the mark.
func (s Switch) Start(ctx context.Context) (result string, err error) {
	result, err = s.start(ctx)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.Name, err)
	}
	return result, nil
}

func (s Switch) start(ctx context.Context) (string, error) {
	mark, err := s.marks.read(ctx)
	if err != nil {
		return "", fmt.Errorf("reading its mark: %w", err)
	}
	before, err := s.steady(ctx)
	switch {
	case err != nil:
		return "", err
	case mark == "" && before == off:
		return StaysOff, nil
	case mark == "":
		return OnBefore, nil
	}
	if err := s.turn(ctx, on); err != nil {
		return "", err
	}
	return s.unmark(ctx, mark)
}

// unmark removes the mark of a switch that is on. The mark of another stop stays: that stop may have written a new
// mark, or may have turned the switch off by now.
func (s Switch) unmark(ctx context.Context, mark string) (string, error) {
	found, err := s.marks.read(ctx)
	if err != nil {
		return "", fmt.Errorf("reading its mark: %w", err)
	}
	if found != mark {
		return StoppedByOther, nil
	}
	if err := s.marks.remove(ctx); err != nil {
		return "", fmt.Errorf("removing its mark: %w", err)
	}
	now, err := s.device.state(ctx)
	if err != nil || now == on {
		return Started, err
	}
	if err := s.marks.write(ctx, mark); err != nil {
		return "", fmt.Errorf("marking it again: %w", err)
	}
	return StoppedByOther, nil
}

// The waits for a change. AWS takes up to a minute for a mapping.
const (
	interval = 2 * time.Second
	patience = 5 * time.Minute
)

// turn turns a switch on or off, and waits until it is. A change that is under way is waited for.
func (s Switch) turn(ctx context.Context, to state) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		now, err := s.steady(ctx)
		if err != nil || now == to {
			return err
		}
		err = s.device.turn(ctx, to)
		if err != nil && !errors.Is(err, errBusy) {
			return fmt.Errorf("turning it %s: %w", to, err)
		}
		if err := wait(ctx); err != nil {
			return fmt.Errorf("it was to be turned %s: %w", to, err)
		}
	}
}

// steady waits until a switch is on or off.
func (s Switch) steady(ctx context.Context) (state, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		now, err := s.device.state(ctx)
		if err != nil {
			return "", fmt.Errorf("reading its state: %w", err)
		}
		if now != changing {
			return now, nil
		}
		if err := wait(ctx); err != nil {
			return "", fmt.Errorf("it is still changing: %w", err)
		}
	}
}

// wait pauses before the switch is looked at again.
func wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(interval):
		return nil
	}
}
