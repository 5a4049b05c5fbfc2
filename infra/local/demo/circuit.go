package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// underWay is for batches that were under way when the circuit opened.
const underWay = time.Second

// schedule is longer than all waits of a delivery's schedule together, each with its jitter.
const schedule = 40 * time.Second

// circuit takes a receiver down under traffic and up again. It does nothing else: the held deliveries have to arrive by
// themselves.
func (d *demo) circuit(ctx context.Context) error {
	heading("A receiver that is down for longer than the schedule: an open circuit, probes, and everything arrives")
	eventType := examples.Choose("user.created")[0]
	s, err := d.open(ctx, "circuit", eventType)
	if err != nil {
		return err
	}
	d.brokenID = s.Endpoint.ID
	busy, flowing := s, &traffic{tenant: s.Tenant, eventType: eventType, began: time.Now()}
	busy.Meanwhile = flowing.flow
	if _, err = busy.Await(ctx, 20); err != nil {
		return err
	}
	down := time.Now()
	if err := d.opens(ctx, busy, down); err != nil {
		return err
	}
	if err := d.probes(ctx, busy, flowing); err != nil {
		return err
	}
	published := flowing.sent
	probed, err := d.returns(ctx, s, down.Add(schedule))
	if err != nil {
		return err
	}
	if err := d.allArrive(ctx, s, published, probed); err != nil {
		return err
	}
	d.checkOrder(s.inbox.Requests(), published, probed)
	letters, err := d.client.DeadLetters(ctx, s.Endpoint.ID)
	if err != nil {
		return err
	}
	d.check(len(letters) == 0, "nothing died in an outage longer than the schedule, and nobody replayed anything")
	return nil
}

// opens makes the receiver fail, since down, and waits until its circuit is open.
func (d *demo) opens(ctx context.Context, s scene, down time.Time) error {
	before := len(s.inbox.Requests())
	s.inbox.Fail(slices.Repeat([]int{503}, 10_000)...)
	health, err := d.standing(ctx, s, "open circuit", func(h api.Health, _ api.Waiting) bool {
		return h.State == api.StateOpen
	})
	if err != nil {
		return err
	}
	opened := time.Now()
	requests := s.inbox.Requests()
	header()
	row(requests, before, down)
	row(requests, len(requests)-1, down)
	d.check(health.LastStatus == 503, "inspect endpoint: %s after %d failures in %s, last status %d",
		health.State, health.Failures, seconds(opened.Sub(down)), health.LastStatus)
	listed, err := d.client.InState(ctx, api.StateOpen)
	d.check(slices.Contains(listed, s.Endpoint.ID), "inspect endpoints: it is listed as open")
	return err
}

// standing asks inspect for the endpoint until it is as wanted.
func (d *demo) standing(
	ctx context.Context, s scene, what string, wanted func(api.Health, api.Waiting) bool,
) (health api.Health, err error) {
	err = s.Eventually(ctx, what, func(ctx context.Context) (bool, error) {
		var waiting api.Waiting
		health, waiting, err = d.client.Health(ctx, s.Tenant.TenantID, s.Endpoint.ID)
		return wanted(health, waiting), err
	})
	return health, err
}

// probes watches the open circuit until one probe has failed.
func (d *demo) probes(ctx context.Context, s scene, flowing *traffic) error {
	time.Sleep(underWay)
	quiet, before := len(s.inbox.Requests()), len(flowing.sent)
	requests, err := s.Await(ctx, quiet+1)
	if err != nil {
		return err
	}
	header()
	row(requests, quiet, requests[quiet].At)
	d.check(len(requests) == quiet+1 && requests[quiet].Status == 503,
		"while %d more events were published, it got %d request: the probe",
		len(flowing.sent)-before, len(requests)-quiet)
	return nil
}

// returns lets the receiver recover, and waits for the next probe.
func (d *demo) returns(ctx context.Context, s scene, at time.Time) (time.Time, error) {
	time.Sleep(time.Until(at))
	health, _, err := d.client.Health(ctx, s.Tenant.TenantID, s.Endpoint.ID) // before a probe can close the circuit
	if err != nil {
		return time.Time{}, err
	}
	s.inbox.Fail()
	failed, back := len(s.inbox.Requests()), time.Now()
	requests, err := s.Await(ctx, failed+1)
	if err != nil {
		return time.Time{}, err
	}
	next := requests[failed]
	row(requests, failed, back)
	sent := health.LastProbeAt.After(requests[failed-1].At) // and is on its way
	due := sent || !health.NextProbeAt.IsZero() && health.NextProbeAt.Sub(next.At) < underWay
	d.check(next.Status == 200 && health.State == api.StateOpen && due,
		"it is back after %s and gets nothing for %s, until the next probe is due; that is answered %d",
		seconds(schedule), seconds(next.At.Sub(back)), next.Status)
	return next.At, nil
}

// allArrive waits for every event, verified and with the body that was published.
func (d *demo) allArrive(ctx context.Context, s scene, published []string, probed time.Time) error {
	var arrived map[string]time.Time
	err := s.Eventually(ctx, "every event", func(context.Context) (bool, error) {
		arrived = arrivals(s.inbox.Requests())
		for _, p := range published {
			if arrived[p].IsZero() {
				return false, fmt.Errorf("%d of %d arrived", len(arrived), len(published))
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	last := slices.MaxFunc(slices.Collect(maps.Values(arrived)), time.Time.Compare)
	d.check(len(arrived) == len(published),
		"all %d events arrived, verified and byte for byte, the last %s after the first 2xx",
		len(published), seconds(last.Sub(probed)))
	health, err := d.standing(ctx, s, "empty Backlog", func(_ api.Health, w api.Waiting) bool {
		return w.Count == 0
	})
	d.check(err == nil, "inspect endpoint: %s, nothing waits for it", health.State)
	return err
}

// arrivals tells when each body was first acknowledged, if its signature was genuine.
func arrivals(requests []receiver.Request) map[string]time.Time {
	first := map[string]time.Time{}
	for _, r := range requests {
		if _, again := first[string(r.Body)]; !again && r.Status == 200 && r.Standard == nil {
			first[string(r.Body)] = r.At
		}
	}
	return first
}

// checkOrder compares the older half of the deliveries after the probe with the newer.
func (d *demo) checkOrder(requests []receiver.Request, published []string, probed time.Time) {
	arrived := arrivals(requests)
	var waits []time.Duration // after the probe, in the order of publishing
	for _, p := range published {
		if after := arrived[p].Sub(probed); after > 0 {
			waits = append(waits, after)
		}
	}
	older, newer := median(waits[:len(waits)/2]), median(waits[len(waits)/2:])
	d.check(older < newer, "oldest first: median of the older half %s after the probe, of the newer %s",
		seconds(older), seconds(newer))
}
