package awsmodel

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func receiveOne(t *testing.T, q *Queue[int], now time.Duration) Handle {
	t.Helper()
	q.Advance(now)
	got := q.Receive(now, nil)
	if len(got) != 1 {
		t.Fatalf("received %d messages at %s, want 1", len(got), now)
	}
	return got[0]
}

func TestQueue_Receive_returnsNothingAtTheLimit(t *testing.T) {
	q := &Queue[int]{Limit: 12, Visibility: time.Minute}
	for n := range 20 {
		q.Send(n, 0, 0, 0)
	}
	if a, b := len(q.Receive(0, nil)), len(q.Receive(0, nil)); a != 10 || b != 2 {
		t.Errorf("received %d and %d messages, want 10 and 2", a, b)
	}
	if q.Ready() || len(q.Receive(0, nil)) != 0 || q.Visible() != 8 {
		t.Errorf("at the limit %d messages are visible, ready %v", q.Visible(), q.Ready())
	}
	q.Advance(time.Minute)
	if q.InFlight() != 0 || q.Visible() != 20 {
		t.Errorf("after the timeout %d in flight, %d visible", q.InFlight(), q.Visible())
	}
}

func TestQueue_Receive_movesWhatWasReceivedTooOften(t *testing.T) {
	var moved []int
	q := &Queue[int]{Visibility: time.Second, MaxReceives: 2, Moved: func(m int) { moved = append(moved, m) }}
	q.Send(7, 0, 0, 0)
	for n := range 2 {
		if h := receiveOne(t, q, time.Duration(n)*time.Second); q.Receives(h) != n+1 {
			t.Errorf("receive %d is counted as %d", n+1, q.Receives(h))
		}
	}
	q.Advance(2 * time.Second)
	if got := q.Receive(2*time.Second, nil); len(got) != 0 || len(moved) != 1 || q.Stored() != 0 {
		t.Errorf("received %d, moved %v, %d stored", len(got), moved, q.Stored())
	}
}

func TestQueue_Send_delayedIsNotInFlight(t *testing.T) {
	q := &Queue[int]{Visibility: time.Minute}
	q.Send(1, 0, 0, 10*time.Second)
	if q.Advance(9 * time.Second); q.Ready() || q.InFlight() != 0 {
		t.Errorf("before its time: ready %v, %d in flight", q.Ready(), q.InFlight())
	}
	receiveOne(t, q, 10*time.Second)
}

func TestQueue_ChangeVisibility(t *testing.T) {
	q := &Queue[int]{Visibility: time.Minute}
	q.Send(1, 0, 0, 0)
	h := receiveOne(t, q, 0)
	if q.ChangeVisibility(h, time.Second, 12*time.Hour) {
		t.Error("12 hours after the receive are over, and it is taken")
	}
	if !q.ChangeVisibility(h, time.Second, 2*time.Minute) || q.ChangeVisibility(h, time.Second, time.Second) {
		t.Error("a handle is good for one change")
	}
	if q.Advance(time.Minute); q.Ready() || q.InFlight() != 1 {
		t.Errorf("the receive's own timeout still counts: ready %v, %d in flight", q.Ready(), q.InFlight())
	}
	h = receiveOne(t, q, 121*time.Second)
	if !q.Delete(h) || q.Delete(h) || q.Stored() != 0 {
		t.Errorf("a message is deleted once; %d stored", q.Stored())
	}
}

func TestQueue_fairHandsOverTheOthersFirst(t *testing.T) {
	for name, want := range map[string]int{"fair": 2, "not": 1} {
		q := &Queue[int]{Visibility: time.Hour, Fair: name == "fair"}
		for range 60 {
			q.Send(1, 1, 0, 0)
		}
		for range 4 {
			q.Receive(0, nil)
		}
		q.Send(2, 2, 0, 0)
		if got := *q.Message(q.Receive(0, nil)[0]); got != want {
			t.Errorf("%s: received a message of group %d first, want %d", name, got, want)
		}
	}
}

func TestHeap_popsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap[int]
		for n, at := range rapid.SliceOfN(rapid.IntRange(0, 50), 0, 200).Draw(t, "times") {
			h.Push(time.Duration(at), n)
		}
		last, order := time.Duration(-1), -1
		for h.Len() > 0 {
			at, n := h.Pop()
			if at < last || at == last && n < order {
				t.Fatalf("%d at %d after %d at %d", n, at, order, last)
			}
			last, order = at, n
		}
	})
}

// Nothing that was sent is ever lost or deleted twice, whatever is done to the queue.
func TestQueue_losesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := &Queue[int]{Limit: 15, Visibility: 30 * time.Second, Fair: rapid.Bool().Draw(t, "fair")}
		now, sent, gone := time.Duration(0), 0, map[int]bool{}
		var held []Handle
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 20).Draw(t, "seconds")) * time.Second
			q.Advance(now)
			switch step := rapid.IntRange(0, 3).Draw(t, "step"); {
			case step == 0:
				group := rapid.Int32Range(0, 2).Draw(t, "group")
				q.Send(sent, group, now, time.Duration(rapid.IntRange(0, 40).Draw(t, "delay"))*time.Second)
				sent++
			case step == 1:
				held = append(held, q.Receive(now, nil)...)
			case len(held) == 0:
			case step == 2:
				m := *q.Message(held[0])
				if q.Delete(held[0]) {
					if gone[m] {
						t.Fatalf("%d is deleted twice", m)
					}
					gone[m] = true
				}
				held = held[1:]
			default:
				q.ChangeVisibility(held[0], now, time.Duration(rapid.IntRange(0, 60).Draw(t, "wait"))*time.Second)
				held = held[1:]
			}
			if q.InFlight() > 15 || q.InFlight()+q.Visible() > q.Stored() {
				t.Fatalf("%d in flight, %d visible of %d", q.InFlight(), q.Visible(), q.Stored())
			}
		}
		q.Advance(now + 24*time.Hour)
		if q.InFlight() != 0 || q.Visible() != q.Stored() || q.Stored() != sent-len(gone) {
			t.Fatalf("in the end %d in flight, %d of %d visible, %d sent, %d deleted",
				q.InFlight(), q.Visible(), q.Stored(), sent, len(gone))
		}
	})
}
