package follow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/follow"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// logs is a log with an attempt each second, and how many follow it.
type logs struct {
	open, most atomic.Int32
	fault      error // that following it ends with at once
}

func (l *logs) follow(ctx context.Context, of stack.Tailed, each func(stack.Lines)) error {
	if l.fault != nil {
		return l.fault
	}
	l.most.Store(max(l.most.Load(), l.open.Add(1)))
	defer l.open.Add(-1)
	for n := 0; ; n++ {
		each(stack.Lines{Sampled: n == 3, Texts: []string{"no JSON", fmt.Sprintf(
			`{"outcome":"retry","tenant_id":"%s","endpoint_id":"webhook_1","attempt":%d}`, of.TenantID, n)}})
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// played is a tail in a bubble, which ends with it.
type played struct {
	*testing.T
	*follow.Tail

	log *logs
}

func inTail(t *testing.T, do func(p played)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &logs{}
		tail := follow.New(l.follow, time.Now)
		do(played{t, tail, l})
		tail.Close()
		if l.open.Load() != 0 {
			t.Error("it is followed though the console has ended")
		}
	})
}

var acme = stack.Tailed{TenantID: "acme"}

func (p played) start() {
	p.Helper()
	if err := p.Start(p.Context(), acme); err != nil {
		p.Fatal(err)
	}
}

func TestTail_keepsTheLatestAttempts(t *testing.T) {
	inTail(t, func(p played) {
		p.start()
		for range 250 / 25 {
			time.Sleep(25 * time.Second)
			p.Look()
		}
		s := p.Look()
		if len(s.Attempts) != follow.Kept || s.Attempts[0].Number != s.Count-1 || !s.Sampled || s.Of != acme {
			p.Errorf("%d of %d, the first is %+v, sampled: %t", len(s.Attempts), s.Count, s.Attempts[0], s.Sampled)
		}
	})
}

// A page that is left open overnight, and one that is closed, cost minutes and no hours.
//
// Threat of a slip: leaves attempts followed overnight, or in two tabs. Held by: one at a time; it ends after 15
// minutes by the clock, and 30 s after its last look.
func TestTail_endsThoughNobodyEndsIt(t *testing.T) {
	for name, c := range map[string]struct {
		look    time.Duration // between two looks, until the end
		after   time.Duration
		minutes int
		says    string
	}{
		"its tab is closed":    {0, follow.Patience, 1, "not open for 30 seconds"},
		"its tab is seldom":    {time.Minute, follow.Patience, 1, "not open for 30 seconds"},
		"its tab stays open":   {10 * time.Second, follow.Longest, 15, "15 minutes at most"},
		"its tabs are many":    {time.Second, follow.Longest, 15, "15 minutes at most"},
		"its tab is just late": {29 * time.Second, follow.Longest, 15, "15 minutes at most"},
	} {
		inTail(t, func(p played) {
			p.start()
			begun := time.Now()
			for p.log.open.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			for next := begun.Add(c.look); p.log.open.Load() > 0; time.Sleep(time.Second) {
				if c.look > 0 && !time.Now().Before(next) {
					p.Look()
					next = next.Add(c.look)
				}
			}
			took := time.Since(begun)
			time.Sleep(10 * time.Hour)
			s := p.Look()
			if took < c.after || took > c.after+3*time.Second || s.Running || s.Minutes != c.minutes ||
				!strings.Contains(fmt.Sprint(s.Why), c.says) || p.log.open.Load() > 0 {
				p.Errorf("%s: ended after %s: %+v", name, took, s.Why)
			}
		})
	}
}

// The clock of the day ends a session, since a machine that was asleep has another one that stood still.
func TestTail_endsAfterASleepOfTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, asleep := &logs{}, atomic.Int64{}
		tail := follow.New(l.follow, func() time.Time { return time.Now().Add(time.Duration(asleep.Load())) })
		played{t, tail, l}.start()
		time.Sleep(time.Second)
		asleep.Store(int64(8 * time.Hour))
		time.Sleep(3 * time.Second)
		if s := tail.Look(); s.Running {
			t.Errorf("it goes on: %+v", s)
		}
	})
}

func TestTail_isOneAtATime(t *testing.T) {
	inTail(t, func(p played) {
		p.start()
		for range 3 {
			if err := p.Start(p.Context(), stack.Tailed{}); !errors.Is(err, follow.ErrRunning) {
				p.Errorf("a second one: %v", err)
			}
		}
		time.Sleep(61 * time.Second / 3)
		p.Stop()
		s := p.Look()
		if s.Running || s.Of != acme || !strings.Contains(fmt.Sprint(s.Why), "ended it here") {
			p.Errorf("%+v", s)
		}
		p.Stop() // by the other tab
		p.start()
		time.Sleep(time.Second)
		if s := p.Look(); !s.Running || s.Minutes != 1 || s.AllOfThem != 2 || s.Why != nil || s.Count > 3 {
			p.Errorf("started again: %+v", s)
		}
		if p.log.most.Load() != 1 {
			p.Errorf("%d at the same time", p.log.most.Load())
		}
		p.Close()
		if err := p.Start(p.Context(), acme); err == nil || p.log.open.Load() > 0 {
			p.Errorf("a console that ends starts one: %v", err)
		}
	})
}

func TestTail_saysWhyItCannotFollow(t *testing.T) {
	inTail(t, func(p played) {
		if s := p.Look(); s.Running || s.AllOfThem != 0 || !s.Begun.IsZero() {
			p.Errorf("before the first: %+v", s)
		}
		p.log.fault = errors.New("denied: no right")
		p.start()
		time.Sleep(time.Second)
		if s := p.Look(); s.Running || !errors.Is(s.Why, p.log.fault) {
			p.Errorf("%+v", s)
		}
		if err := p.Start(p.Context(), stack.Tailed{TenantID: `a"b`}); err == nil {
			p.Error("follows what is no tenant")
		}
	})
}
