package usage

import (
	"slices"
	"sort"
	"time"
)

// mostOffset is more than clocks differ from UTC.
const mostOffset = 26 * time.Hour

// dayOf is the beginning of a moment's day by its clock, as a time in UTC.
func dayOf(at time.Time) time.Time {
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
}

// moments are all moments, in their order, at which the clocks of a zone show what clock shows in UTC. They show an
// hour twice when they are set back. Of a time that they skip it is the moment at which they skip it. There is always
// one, which package time does not promise: of these hours it takes one of two offsets.
func moments(clock time.Time, zone *time.Location) (found []time.Time) {
	begin := clock.Add(-mostOffset).In(zone)
	for at := begin; at.Before(clock.Add(mostOffset)); at = at.Add(time.Hour) {
		m := clock.Add(-offset(at)).In(zone)
		if offset(m) == offset(at) && !slices.ContainsFunc(found, m.Equal) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, time.Time.Compare)
	if len(found) > 0 {
		return found
	}
	skipped := sort.Search(int(2*mostOffset/time.Second), func(n int) bool {
		at := begin.Add(time.Duration(n) * time.Second)
		return !at.Add(offset(at)).Before(clock)
	})
	return []time.Time{begin.Add(time.Duration(skipped) * time.Second)}
}

// offset is how far the clocks of a moment's zone are ahead of UTC.
func offset(at time.Time) time.Duration {
	_, seconds := at.Zone()
	return time.Duration(seconds) * time.Second
}

// on is a time of the day on a day, as a time in UTC.
func on(day, clock time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC)
}

// shown are the moments at which the clocks of a moment's zone came to a time of the day, in their order: on its day,
// and on some days before and after.
func shown(clock, around time.Time, before, after int) (all []time.Time) {
	for days := -before; days <= after; days++ {
		all = append(all, moments(on(dayOf(around).AddDate(0, 0, days), clock), around.Location())...)
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// last is the last moment until now at which the clocks of its zone came to a time of the day.
func last(clock, now time.Time) (found time.Time) {
	for _, m := range shown(clock, now, 2, 1) { // clocks may have shown tomorrow, and been set back
		if !m.After(now) {
			found = m
		}
	}
	return found
}

// first is the first moment after another at which the clocks of its zone came to a time of the day.
func first(clock, after time.Time) time.Time {
	all := shown(clock, after, 1, 2)
	return all[slices.IndexFunc(all, func(m time.Time) bool { return m.After(after) })]
}
