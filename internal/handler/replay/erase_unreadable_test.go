package replay

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/herald-webhooks/herald/internal/deadletter"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/job"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// unreadable is a message that was sealed whole, with these attributes: names and values.
func unreadable(t *testing.T, id string, attributes ...string) deadletter.Record {
	t.Helper()
	r := deadletter.Record{
		Ref: delivery.Ref{DeliveryID: "unreadable_" + id}, Status: deadletter.Dead, Reason: delivery.ReasonUnreadable,
		DiedAt: at, UpdatedAt: at,
	}
	death := deadletter.Death{Body: []byte("no JSON"), Entry: deadletter.Entry{Reason: r.Reason}}
	for pair := range slices.Chunk(attributes, 2) {
		death.Attributes = append(death.Attributes, deadletter.Attribute{Name: pair[0], Type: "String", Value: pair[1]})
	}
	sealed, err := vault.SealDeath(t.Context(), r, death)
	if err != nil {
		t.Fatal(err)
	}
	r.Sealed = sealed
	return r
}

// eraseAll erases acme by as many requests as it takes.
func (w *world) eraseAll(t *testing.T, dryRun bool) (sum map[string]int, answer string) {
	t.Helper()
	sum, sure := map[string]int{}, `"tenant_id":"acme","confirm":"acme"`
	if dryRun {
		sure = `"tenant_id":"acme","dry_run":true`
	}
	for next := ""; ; {
		answer = testkit.Ask(t, testkit.ByAlias(w.handler().Function(), ForGood), "erase", sure+next)
		if answer == testkit.Internal {
			return sum, answer
		}
		part := testkit.Read[Erased](t, answer)
		for kind, n := range part.Counts {
			sum[kind] += n
		}
		if part.NextCursor == nil {
			return sum, answer
		}
		next = `,"cursor":"` + *part.NextCursor + `"`
	}
}

func TestHandler_erase_findsUnreadableLettersByTheirSealedTenant(t *testing.T) {
	for _, dryRun := range []bool{true, false} {
		changed := unreadable(t, "changed", "tenant_id", "acme")
		changed.Sealed.Attributes = []byte("changed")
		letters := []deadletter.Record{
			unreadable(t, "other", "tenant_id", "other"), unreadable(t, "none"), changed,
			unreadable(t, "names", "event_id", "acme", "tenant", "acme"), deadLetter(t, nil),
		}
		others := len(letters)
		for n := range 2 * openedAtOnce {
			letters = append(letters, unreadable(t, strconv.Itoa(n), "version", "9", "tenant_id", "acme"))
		}
		w, left := newWorld(letters...), others
		if dryRun {
			left = len(letters)
		}
		if sum, _ := w.eraseAll(t, dryRun); sum[kindUnreadable] != 2*openedAtOnce || len(w.letters) != left {
			t.Errorf("dry run %t: %v, %d letters are left, want %d", dryRun, sum, len(w.letters), left)
		}
		for _, l := range letters[:others] {
			if _, there := w.letters[l.DeliveryID]; !there {
				t.Errorf("dry run %t: %s is gone", dryRun, l.DeliveryID)
			}
		}
		if !strings.Contains(w.log.String(), "unreadable_changed") {
			t.Errorf("what does not open is not in the log: %s", &w.log)
		}
	}
}

// A letter that cannot be read now may be the tenant's: the request fails, and is made again.
func TestHandler_erase_endsWhereAnUnreadableLetterCannotBeRead(t *testing.T) {
	broken := unreadable(t, "broken", "tenant_id", "acme")
	broken.DeliveryID = "broken"
	w := newWorld(broken, unreadable(t, "ours", "tenant_id", "acme"))
	if _, answer := w.eraseAll(t, false); answer != testkit.Internal || len(w.letters) != 2 {
		t.Errorf("%s, %d letters are left", answer, len(w.letters))
	}
}

// A search for few among many goes on where the last page ended: one that read all would outlive its invocation.
func TestPagesOfDeadLettersReadABoundedNumber(t *testing.T) {
	const most = readsAtOnce * lettersRead
	synctest.Test(t, func(t *testing.T) {
		w := newStore(t, most+5)
		for n, id := range w.order {
			r := w.letters[id]
			if r.Reason = delivery.ReasonConnect; n == most+2 {
				r.Reason = delivery.ReasonTimeout
			}
			w.letters[id] = r
		}
		selected := strings.Replace(startReplay, `"tenant_id":"acme"`, `"status":"dead","reason":"timeout"`, 1)
		counted := ask[Survey](t, w, selected+`,"dry_run":true}`)
		if ask[Survey](t, w, selected+`}`); counted.Selected != 1 || !counted.Complete {
			t.Errorf("counted %+v", counted)
		}
		if done, minutes := w.finish(t, "t"); done.Done != 1 || done.State != job.Done || minutes > 2 {
			t.Errorf("after %d minutes %+v", minutes, done)
		}
		w.eraseAll(t, true)
		if w.longest > most {
			t.Errorf("a page read %d letters, want %d at most", w.longest, most)
		}
	})
}
