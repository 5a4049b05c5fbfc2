package main

import (
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/infra/internal/awsmodel"
	"github.com/herald-webhooks/herald/internal/health"
)

// mapping is an event source mapping with its processes.
type mapping struct {
	name      health.Queue
	queue     *awsmodel.Queue[message]
	processes []process
	idle      []int
}

// process is one execution environment: what it keeps is lost to the others.
type process struct {
	name    string
	batch   []task
	number  int // of the batch
	begin   time.Duration
	end     time.Duration
	noted   []int32 // endpoints with a note for this batch
	views   []seen
	slow    health.Slow
	marked  []int32 // by the rules of 0.1.0: endpoints that are marked, as last read
	read    time.Duration
	wrote   map[int32]time.Duration
	handles []awsmodel.Handle
}

// seen is the item of an endpoint that a batch acts on.
type seen struct {
	endpoint int32
	item     health.Item
}

// task is one delivery of a batch.
type task struct {
	handle   awsmodel.Handle
	message  message
	place    int
	receives int
	fate     fate
	begin    time.Duration
	end      time.Duration
	answer   answer
	reason   string
	due      time.Duration
	sent     bool // diverted, and on RetryQueue by now
}

// fate is what a batch does with a delivery.
type fate int

const (
	post     fate = iota
	hold          // its endpoint is held
	divert        // from DeliveryQueue to RetryQueue, for the sake of others
	putOff        // from RetryQueue to Backlog, for the sake of others
	faulty        // a fault of ours
	unposted      // in 0.1.0: its schedule was used up before
)

func (w *world) newMapping(name health.Queue, redrive int) *mapping {
	m := &mapping{name: name, queue: &awsmodel.Queue[message]{
		Visibility: visibilityTimeout, MaxReceives: redrive, Fair: w.scenario.fair, Moved: w.died,
	}}
	for n := range concurrency {
		m.processes = append(m.processes, process{name: fmt.Sprintf("%s-%02d", name, n), read: -time.Second})
		m.idle = append(m.idle, n)
	}
	return m
}
