package main

import (
	"time"

	"github.com/herald-webhooks/herald/infra/internal/awsmodel"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/health"
)

// store is the table Backlog with its two orders: by due time, and for every endpoint by the age
// of the delivery. An entry of a heap whose turn is over names an item that is gone, or has been
// dated anew.
type store struct {
	world *world
	items []item
	free  []int32
	due   awsmodel.Heap[ref]
	ages  map[int32]*awsmodel.Heap[ref]
	n     int
}

type item struct {
	message message
	stored  milli
	due     milli
	held    bool
	turn    uint32 // of the item
	dated   uint32 // of its due time
}

type ref struct {
	item int32
	turn uint32
}

func (s *store) put(m message, next delivery.Next) {
	n := s.place()
	i := &s.items[n]
	i.message, i.held = m, next.Held
	i.stored, i.due = millis(s.world.now), millis(next.Due.Sub(epoch))
	i.turn++
	i.dated++
	s.due.Push(i.due.duration(), ref{n, i.dated})
	if s.ages == nil {
		s.ages = map[int32]*awsmodel.Heap[ref]{}
	}
	if s.ages[m.endpoint] == nil {
		s.ages[m.endpoint] = &awsmodel.Heap[ref]{}
	}
	s.ages[m.endpoint].Push(m.created.duration(), ref{n, i.turn})
	s.n++
	if i.held {
		s.world.endpoints[m.endpoint].held++
	}
	s.world.stats.backlog = max(s.world.stats.backlog, s.n)
	s.world.stats.aws.writes += 2
}

func (s *store) place() int32 {
	if last := len(s.free) - 1; last >= 0 {
		n := s.free[last]
		s.free = s.free[:last]
		return n
	}
	s.items = append(s.items, item{})
	return int32(len(s.items) - 1) //nolint:gosec // memory ends long before
}

func (s *store) remove(n int32) {
	i := &s.items[n]
	if i.held {
		s.world.endpoints[i.message.endpoint].held--
	}
	i.turn++
	i.dated++
	s.n--
	s.free = append(s.free, n)
	s.world.stats.aws.writes += 2
}

// redate makes an item wait for its endpoint.
func (s *store) redate(n int32, due milli) {
	i := &s.items[n]
	if !i.held {
		s.world.endpoints[i.message.endpoint].held++
	}
	i.held, i.due = true, due
	i.dated++
	s.due.Push(due.duration(), ref{n, i.dated})
	s.world.stats.aws.writes += 3 // the item, and its key in the index removed and put
}

// takeDue returns the next item that is due until then, which is then no longer found by its due
// time: whoever keeps it puts it back with keepDue.
func (s *store) takeDue(until time.Duration) (int32, bool) {
	for s.due.Len() > 0 {
		at, r := s.due.Next()
		if s.items[r.item].dated != r.turn {
			s.due.Pop()
			continue
		}
		if at > until {
			return 0, false
		}
		s.due.Pop()
		return r.item, true
	}
	return 0, false
}

func (s *store) keepDue(n int32) {
	s.due.Push(s.items[n].due.duration(), ref{n, s.items[n].dated})
}

// takeOldest returns the oldest item of an endpoint, which is then no longer found by its age.
func (s *store) takeOldest(endpoint int32) (int32, bool) {
	ages := s.ages[endpoint]
	for ages != nil && ages.Len() > 0 {
		_, r := ages.Pop()
		if s.items[r.item].turn == r.turn {
			return r.item, true
		}
	}
	return 0, false
}

func (s *store) keepOldest(n int32) {
	i := &s.items[n]
	s.ages[i.message.endpoint].Push(i.message.created.duration(), ref{n, i.turn})
}

func (i *item) waiting() health.Waiting {
	return health.Waiting{
		Held: i.held, ParkedAt: i.stored.time(), StartedAt: epoch.Add(i.message.created.duration()),
		DueAt: i.due.time(), DiesAt: i.message.dies.time(),
	}
}
