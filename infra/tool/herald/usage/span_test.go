package usage

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Here it is 11:00, two hours ahead of UTC.
var here = now.In(time.FixedZone("CEST", 7200))

func TestGiven_Selector_readsRangesOfTime(t *testing.T) {
	for name, row := range map[string]struct{ since, until, from, to string }{
		"the last night":             {"22:00", "06:00", "2026-05-01T20:00:00Z", "2026-05-02T04:00:00Z"},
		"an hour of this morning":    {"02:00", "03:00", "2026-05-02T00:00:00Z", "2026-05-02T01:00:00Z"},
		"an hour of yesterday":       {"yesterday 14:00", "15:00", "2026-05-01T12:00:00Z", "2026-05-01T13:00:00Z"},
		"a whole day":                {"yesterday 00:00", "24:00", "2026-04-30T22:00:00Z", "2026-05-01T22:00:00Z"},
		"what a page shows":          {"", "2026-05-01 13:00:00.678 UTC", "", "2026-05-01T13:00:00.678Z"},
		"yesterday":                  {"yesterday", "today", "2026-04-30T22:00:00Z", "2026-05-01T22:00:00Z"},
		"from a day to a time of it": {"2026-04-28", "15:00", "2026-04-27T22:00:00Z", "2026-04-28T13:00:00Z"},
		"from a time of this day on": {"02:00", "", "2026-05-02T00:00:00Z", ""},
		"to the last one":            {"", "15:00", "", "2026-05-01T13:00:00Z"},
		"exactly to the millisecond": {"", "2026-05-01T13:00:00.678Z", "", "2026-05-01T13:00:00.678Z"},
		"with zones": {
			"2026-05-01T14:00:00+02:00", "2026-05-01T14:00:00Z", "2026-05-01T12:00:00Z", "2026-05-01T14:00:00Z",
		},
		"to a moment that will come": {"02:00", "2026-05-03", "2026-05-02T00:00:00Z", "2026-05-02T22:00:00Z"},
	} {
		for _, g := range []Given{
			{Since: row.since, Until: row.until}, {PublishedSince: row.since, PublishedUntil: row.until},
		} {
			of, err := g.Selector(here)
			got := []string{stamped(of.Since), stamped(of.Until)}
			if g.Since+g.Until == "" {
				got = []string{stamped(of.PublishedSince), stamped(of.PublishedUntil)}
			}
			if diff := cmp.Diff([]string{row.from, row.to}, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
			}
		}
	}
}

func stamped(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339Nano)
}

func TestGiven_Selector_refusesTimesInTheFuture(t *testing.T) {
	for row, want := range map[[2]string]Fault{
		{"10:00", "12:00"}: {"until", "12:00 is in the future; say which day: " +
			"2026-05-01 10:00 to 2026-05-01 12:00, or 2026-05-02 10:00 to 2026-05-02 12:00"},
		{"10:30:05", "12:00:07"}: {"until", "12:00:07 is in the future; say which day: " +
			"2026-05-01 10:30:05 to 2026-05-01 12:00:07, or 2026-05-02 10:30:05 to 2026-05-02 12:00:07"},
		{"1h", "12:00"}: {"until", "12:00 is in the future; say which day: 2026-05-01 12:00 or 2026-05-02 12:00"},
		{"2026-05-03", ""}: {"since",
			"2026-05-03 is in the future: 2026-05-02 22:00:00 UTC, here 2026-05-03 00:00:00 CEST"},
		{"1h", "2h"}: {"until", "2h is not after since 1h: 2026-05-02 07:00:00 UTC, here 2026-05-02 09:00:00 CEST " +
			"and 2026-05-02 08:00:00 UTC, here 2026-05-02 10:00:00 CEST"},
	} {
		_, err := Given{Since: row[0], Until: row[1]}.Selector(here)
		fault, is := errors.AsType[*Fault](err)
		if !is || *fault != want {
			t.Errorf("%v: %v, want %v", row, err, want.Text)
		}
		_, err = Given{PublishedSince: row[0], PublishedUntil: row[1]}.Selector(here)
		if fault, is := errors.AsType[*Fault](err); !is || fault.Field != "published_"+want.Field {
			t.Errorf("published %v: %v", row, err)
		}
	}
}

// Each of the two ranges that a fault offers is taken as it is written.
func TestBothDays_offersWhatIsTaken(t *testing.T) {
	for _, day := range []string{"2026-05-01", "2026-05-02"} {
		of, err := Given{Since: day + " 10:00", Until: day + " 12:00"}.Selector(here)
		if err != nil || of.Until.Sub(of.Since) != 2*time.Hour {
			t.Errorf("%s: %v to %v, %v", day, of.Since, of.Until, err)
		}
	}
}

func TestZoned_saysUTCAndHere(t *testing.T) {
	if got := Zoned(now, here.Location()); got != "2026-05-02 09:00:00 UTC, here 2026-05-02 11:00:00 CEST" {
		t.Error(got)
	}
	if got := Zoned(here, time.UTC); got != "2026-05-02 09:00:00 UTC, as here" {
		t.Error(got)
	}
}

// An end without a day is the first moment after the beginning at which clocks showed it, or skipped it.
func TestFirst_takesTheNextTimeOfADay(t *testing.T) {
	everyChange(t, func(change time.Time) {
		if change.Unix()/3600%5 > 0 { // a fifth of them has every kind
			return
		}
		for _, minutes := range []int{-20, 20} {
			after := change.Add(time.Duration(minutes) * time.Minute).Truncate(time.Second)
			for _, hour := range []int{1, 2} {
				clock := time.Date(0, 1, 1, hour, 30, 0, 0, time.UTC)
				got := first(clock, after)
				if before := last(clock, got.Add(-time.Second)); !got.After(after) || before.After(after) {
					t.Errorf("%02d:30 after %s in %s is %s, and was %s before", hour, after.Format(time.RFC3339),
						after.Location(), got.Format(time.RFC3339), fmt.Sprint(before))
				}
			}
		}
	})
}
