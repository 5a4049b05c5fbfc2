package circuit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var telling = func() Settings {
	s := settings
	s.Notices = true
	return s
}()

// owner hears the notices about one endpoint that the bus has taken.
type owner struct {
	item  Item
	facts Facts
	now   time.Time
	heard []Notice
}

func newOwner(i Item) owner {
	i.TenantID, i.EndpointID, i.Version = "acme", "webhook_1", 1
	return owner{item: i, now: epoch}
}

// run plays the part of a run of release that concerns notices, a minute later. With taken, the bus takes them.
func (o owner) run(taken bool) owner {
	o.now = o.now.Add(time.Minute)
	p := o.item.Plan(telling, o.facts, o.now)
	o.item = p.Item
	switch o.item.Empty(telling, o.facts, o.now, o.now) {
	case Close:
		o.item = o.item.Closed(o.now)
	case Clear:
		o.item.HeldUntil = time.Time{}
	case Remove:
		o.item = Item{}
	case Keep:
	}
	for _, n := range p.Item.Owed() {
		if taken {
			o.heard = append(o.heard, n)
			o.item, _ = o.item.Told(n, o.now)
		}
	}
	return o
}

func (o owner) is(t *testing.T, want ...Notice) {
	t.Helper()
	if diff := cmp.Diff(want, o.heard); diff != "" {
		t.Errorf("heard (-want +got)\n%s", diff)
	}
}

// recovers is the probe's 2xx.
func (o owner) recovers() owner {
	o.item = o.item.recover(o.now).changed(o.now)
	return o
}

func outage() Item {
	return Item{State: Open, Since: epoch, Last: Answer{At: epoch, Status: 503, Reason: "http_5xx"}}
}

var opened = Notice{Kind: NoticeOpened, At: epoch, Reason: "http_5xx", Status: 503}

func TestNotices_tellOfAnOutageOnceAndOfItsEnd(t *testing.T) {
	o := newOwner(outage()).run(true).run(true)
	o.is(t, opened)
	o = o.recovers()
	o.item = o.item.open(o.now).changed(o.now) // the recovery has failed
	o = o.run(true).recovers().run(true).run(true).run(true)
	o.is(t, opened, Notice{Kind: NoticeRecovered, At: epoch.Add(4 * time.Minute), Since: epoch})
	o.now = o.now.Add(telling.RecoverOnce)
	if o = o.run(true); o.item.Version != 0 {
		t.Errorf("%+v is kept", o.item)
	}
}

func TestNotices_waitForTheBus(t *testing.T) {
	o := newOwner(outage()).run(false).recovers().run(false).run(false)
	o.now = o.now.Add(telling.Forget)
	o = o.run(false)
	o.is(t)
	o.run(true).is(t, opened, Notice{Kind: NoticeRecovered, At: epoch.Add(2 * time.Minute), Since: epoch})
}

// An end is not told before the beginning, whatever of a call the bus takes.
func TestItem_Told_keepsAnEndWhoseBeginningWasRefused(t *testing.T) {
	i := newOwner(outage()).run(false).recovers().run(false).item
	owed := i.Owed()
	if next, changed := i.Told(owed[1], epoch); changed {
		t.Errorf("%+v", next)
	}
}

// If the owner's own change ends a recovery, there may be nothing left to send. The outage ends with the next run that
// finds the endpoint active.
func TestNotices_tellOfTheEndOfAnOutageThatNoRecoveryEnds(t *testing.T) {
	o := newOwner(outage()).run(true).recovers()
	o.facts.Stopped = true // by the owner
	o = o.run(true)
	o.now = o.now.Add(telling.RecoverOnce)
	o = o.run(true)
	o.is(t, opened)
	o.facts.Stopped = false
	o = o.run(true).run(true)
	o.is(t, opened, Notice{Kind: NoticeRecovered, At: epoch.Add(telling.RecoverOnce + 4*time.Minute), Since: epoch})
}

func TestNotices_tellOfAPauseAndItsEnd(t *testing.T) {
	o := newOwner(Item{HeldUntil: epoch.Add(5 * time.Minute)})
	o.facts = Facts{Stopped: true, PausedAt: epoch}
	for range 10 {
		o = o.run(true)
	}
	o.is(t, Notice{Kind: NoticePaused, At: epoch})
	resumed := o.now
	o.facts = Facts{ResumedAt: resumed}
	o = o.run(true).run(true)
	o.is(t, Notice{Kind: NoticePaused, At: epoch}, Notice{Kind: NoticeResumed, At: resumed, Since: epoch})
	if o.item.Version != 0 {
		t.Errorf("%+v is kept", o.item)
	}
}

// A pause that held at the endpoint's domain leaves no mark of its end on the endpoint: the run tells when it saw it.
func TestNotices_tellOfTheEndOfAPauseThatLeavesNoMark(t *testing.T) {
	for name, resumed := range map[string]time.Time{"no mark": {}, "the end of a pause before": epoch.Add(-time.Hour)} {
		t.Run(name, func(t *testing.T) {
			o := newOwner(Item{HeldUntil: epoch.Add(5 * time.Minute)})
			o.facts = Facts{Stopped: true, PausedAt: epoch}
			o = o.run(true).run(true)
			o.facts = Facts{ResumedAt: resumed}
			o = o.run(true)
			o.is(t, Notice{Kind: NoticePaused, At: epoch},
				Notice{Kind: NoticeResumed, At: epoch.Add(3 * time.Minute), Since: epoch})
		})
	}
}

func TestNotices_rememberADeadLetterForADay(t *testing.T) {
	o := newOwner(Item{Death: Spell{At: epoch, Reason: "timeout"}}).run(true).run(true)
	o.is(t, Notice{Kind: NoticeDeadLetter, At: epoch, Reason: "timeout"})
	if o.item.Version == 0 {
		t.Error("it is forgotten within the day")
	}
	if o.item.remembers(telling, o.item.Death.At.Add(DeadLetterEvery)) {
		t.Error("it is remembered when the next may be told")
	}
	o.now = o.now.Add(DeadLetterEvery)
	if o = o.run(true); o.item.Version != 0 {
		t.Errorf("%+v is kept", o.item)
	}
}

// A note from the time before notices were switched off keeps no item. Nothing keeps the item of a deleted endpoint.
func TestNotices_keepNoItemWhereNobodyIsTold(t *testing.T) {
	i := Item{Version: 1, Death: Spell{At: epoch}, Outage: Spell{At: epoch}, Pause: Spell{At: epoch}}
	if end := i.Empty(settings, Facts{}, epoch, epoch); end != Remove {
		t.Errorf("off: %v", end)
	}
	if end := i.Empty(telling, Facts{Gone: true}, epoch, epoch); end != Remove {
		t.Errorf("deleted: %v", end)
	}
	if p := outage().Plan(settings, Facts{PausedAt: epoch}, epoch); p.Changed || len(p.Item.Owed()) > 0 {
		t.Errorf("noted although nobody is told: %+v", p.Item)
	}
}
