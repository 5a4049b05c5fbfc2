package usage

import (
	"archive/zip"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"
)

// zones are all time zones of Go's database.
func zones(t *testing.T) (all []*time.Location) {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	database, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = database.Close() })
	for _, file := range database.File {
		f, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		if zone, err := time.LoadLocationFromTZData(file.Name, data); err == nil { // a folder is none
			all = append(all, zone)
		}
	}
	if len(all) < 400 {
		t.Fatalf("the database has %d zones", len(all))
	}
	return all
}

// changes are the moments between 2008 and 2028 at which the clocks of a zone change.
func changes(zone *time.Location) (all []time.Time) {
	offset := func(t time.Time) int {
		_, seconds := t.Zone()
		return seconds
	}
	const step = 12 * 60 * 60
	end := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	for at := time.Date(2008, 1, 1, 0, 0, 0, 0, zone); at.Before(end); at = at.Add(step * time.Second) {
		before := offset(at)
		if offset(at.Add(step*time.Second)) == before {
			continue
		}
		n := sort.Search(step, func(n int) bool { return offset(at.Add(time.Duration(n)*time.Second)) != before })
		all = append(all, at.Add(time.Duration(n)*time.Second))
	}
	return all
}

// everyChange calls do once for each change of clocks, with the zone; zones that have the same one are played once.
func everyChange(t *testing.T, do func(change time.Time)) {
	t.Helper()
	played := map[string]bool{}
	for _, zone := range zones(t) {
		for _, change := range changes(zone) {
			key := change.Add(-time.Second).Format(time.RFC3339) + change.Format(time.RFC3339)
			if !played[key] {
				played[key] = true
				do(change)
			}
		}
	}
	if len(played) < 1000 {
		t.Errorf("clocks changed %d times", len(played))
	}
}

// A day begins at its first moment, also where midnight is skipped or comes twice.
func TestParseTime_beginsDaysAtTheirFirstMoment(t *testing.T) {
	everyChange(t, func(change time.Time) {
		for _, hours := range []time.Duration{1, 25} {
			now := change.Add(hours * time.Hour)
			want := firstOf(now)
			check(t, "today", now, want)
			check(t, now.Format(time.DateOnly), now, want)
			check(t, "yesterday", now, firstOf(want.Add(-time.Minute)))
		}
	})
}

// firstOf is the first moment of another's day, found in steps of five minutes. No day begins between them.
func firstOf(at time.Time) (first time.Time) {
	const step = 5 * time.Minute
	at = at.Truncate(step)
	day := at.YearDay()
	for back := range 28 * time.Hour / step {
		if t := at.Add(-back * step); t.YearDay() == day {
			first = t
		}
	}
	return first
}

// A time of the day is the last moment at which clocks showed it, or skipped it.
func TestParseTime_takesTheLastTimeOfADay(t *testing.T) {
	everyChange(t, func(change time.Time) {
		for _, minutes := range []int{20, 75} {
			now := change.Add(time.Duration(minutes) * time.Minute)
			for _, hour := range []int{0, 1, 2} {
				check(t, fmt.Sprintf("%02d:30", hour), now, lastAt(now, hour*60+30))
			}
		}
	})
}

// lastAt is the last minute at which the clocks came to a minute of a day. Each minute is looked at.
func lastAt(now time.Time, minute int) time.Time {
	shown := func(t time.Time) int {
		_, offset := t.Zone()
		return (int(t.Unix())+offset)/60 - minute
	}
	const day = 24 * 60
	at := now.Truncate(time.Minute)
	for here := shown(at); ; at = at.Add(-time.Minute) {
		before := shown(at.Add(-time.Minute))
		if here%day == 0 || here > before && here/day > before/day {
			return at
		}
		here = before
	}
}

func check(t *testing.T, text string, now, want time.Time) {
	t.Helper()
	got, err := ParseTime("since", text, now)
	if err != nil || !got.Equal(want) {
		t.Errorf("%s, at %s in %s, is %s, %v; want %s", text, now.Format(time.RFC3339), now.Location(),
			got.In(now.Location()).Format(time.RFC3339), err, want.Format(time.RFC3339))
	}
}
