package erase

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/operatortest"
)

// unreadable is a message that was sealed whole, with these attributes: names and values.
func unreadable(t *testing.T, id string, attributes ...string) deadletter.Record {
	t.Helper()
	r := deadletter.Record{
		Ref: delivery.Ref{DeliveryID: "unreadable_" + id}, Status: deadletter.Dead, Reason: delivery.ReasonUnreadable,
		DiedAt: operatortest.At, UpdatedAt: operatortest.At,
	}
	death := deadletter.Death{Body: []byte("no JSON"), Entry: deadletter.Entry{Reason: r.Reason}}
	for pair := range slices.Chunk(attributes, 2) {
		death.Attributes = append(death.Attributes, deadletter.Attribute{Name: pair[0], Type: "String", Value: pair[1]})
	}
	sealed, err := operatortest.Vault.SealDeath(t.Context(), r, death)
	if err != nil {
		t.Fatal(err)
	}
	r.Sealed = sealed
	return r
}

func TestEraser_Erase_findsUnreadableLettersByTheirSealedTenant(t *testing.T) {
	for fields, dryRun := range map[string]bool{sure: false, counted: true} {
		changed := unreadable(t, "changed", "tenant_id", "acme")
		changed.Sealed.Attributes = []byte("changed")
		letters := []deadletter.Record{
			unreadable(t, "other", "tenant_id", "other"), unreadable(t, "none"), changed,
			unreadable(t, "names", "event_id", "acme", "tenant", "acme"), operatortest.DeadLetter(t, nil),
		}
		others := len(letters)
		for n := range 2 * openedAtOnce {
			letters = append(letters, unreadable(t, strconv.Itoa(n), "version", "9", "tenant_id", "acme"))
		}
		inAccount(t, func(a *account) {
			a.Put(letters...)
			left := others
			if dryRun {
				left = len(letters)
			}
			if sum, err := a.erase(fields); sum[kindUnreadable] != 2*openedAtOnce || len(a.Letters) != left || err != nil {
				t.Errorf("dry run %t: %v, %v, %d letters are left, want %d", dryRun, sum, err, len(a.Letters), left)
			}
			for _, l := range letters[:others] {
				if _, there := a.Letters[l.DeliveryID]; !there {
					t.Errorf("dry run %t: %s is gone", dryRun, l.DeliveryID)
				}
			}
			if !strings.Contains(a.Log.String(), "unreadable_changed") {
				t.Errorf("the letter that does not open is not in the log: %s", &a.Log)
			}
		})
	}
}

// A letter that cannot be read now may be the tenant's: whatever call fails, the request fails or erases it, and the
// request that is made again erases all.
func TestEraser_Erase_leavesNothingWhateverCallFails(t *testing.T) {
	for _, v := range model.Faults() {
		for n := 1; ; n++ {
			reached := false
			inAccount(t, func(a *account) {
				a.Put(unreadable(t, "1", "tenant_id", "acme"), unreadable(t, "2", "tenant_id", "acme"))
				a.Fault(n, v)
				_, err := a.erase(sure)
				if len(a.Letters) > 0 && err == nil && v != model.Late {
					t.Errorf("call %d is %s: %d letters are left by requests without a fault", n, v, len(a.Letters))
				}
				reached = a.Heal(n)
				if _, err := a.erase(sure); len(a.Letters) > 0 || err != nil {
					t.Errorf("call %d is %s: then %v, %d letters are left", n, v, err, len(a.Letters))
				}
			})
			if !reached {
				break
			}
		}
	}
}

// A search for few among many goes on where the last page ended: a search that read all would outlive its invocation.
func TestPagesOfUnreadableLettersReadABoundedNumber(t *testing.T) {
	const most = dynamo.ReadsAtOnce * 500 // letters in a read of the model
	inAccount(t, func(a *account) {
		a.Put(operatortest.Deaths(t, most+5)...)
		if _, err := a.erase(counted); err != nil || a.Lists < 2 {
			t.Errorf("%v, an erasure reads all letters in %d page", err, a.Lists)
		}
	})
}
