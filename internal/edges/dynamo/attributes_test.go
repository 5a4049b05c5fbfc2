package dynamo

import (
	"cmp"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Conditions and indexes compare times as text. DynamoDB does so by bytes.
func TestEncoder_writesTimesThatSortAsText(t *testing.T) {
	// The years 1 to 9999, except for three seconds at both ends, since a close one is up to two seconds away.
	first, last := time.Date(1, 1, 1, 0, 0, 3, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 57, 0, time.UTC)
	moments := rapid.Custom(func(t *rapid.T) time.Time {
		at := time.UnixMilli(rapid.Int64Range(first.UnixMilli(), last.UnixMilli()).Draw(t, "at"))
		return at.Add(time.Duration(rapid.IntRange(0, 999_999).Draw(t, "finer")))
	})
	near := rapid.Int64Range(-2000, 2000)
	zones := rapid.IntRange(-14*3600, 14*3600)
	rapid.Check(t, func(t *rapid.T) {
		a, b := moments.Draw(t, "a"), moments.Draw(t, "b")
		if rapid.Bool().Draw(t, "close") {
			b = a.Add(time.Duration(near.Draw(t, "ms")) * time.Millisecond)
		}
		var texts []string
		for _, at := range []time.Time{a, b} {
			at = at.In(time.FixedZone("", zones.Draw(t, "zone")))
			item := given{"at": at}.encoded()
			if got := read[time.Time](item, "at"); !got.Equal(at.Truncate(time.Millisecond)) {
				t.Fatalf("%s is read back as %s", at, got)
			}
			texts = append(texts, getStr(item, "at"))
		}
		want := a.Truncate(time.Millisecond).Compare(b.Truncate(time.Millisecond))
		if got := cmp.Compare(texts[0], texts[1]); got != want || len(texts[0]) != len(texts[1]) {
			t.Fatalf("%q and %q compare as %d, want %d", texts[0], texts[1], got, want)
		}
	})
}
