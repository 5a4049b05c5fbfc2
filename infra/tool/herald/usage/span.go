package usage

import (
	"fmt"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// The names of what happens at the times by which an operator selects.
const (
	Died      = "died"
	Sent      = "sent"      // a rejected event, to its queue
	Published = "published" // an event, to EventsQueue
)

// Moment is an end of a range of time, as its flag and its field are called: died_since.
type Moment struct {
	Name string
	At   time.Time
}

// TimesOf are the times of a selection. When is what happened at its since and until.
func TimesOf(of api.Selector, when string) (all []Moment) {
	for _, m := range []Moment{
		{when + "_since", of.Since}, {when + "_until", of.Until},
		{Published + "_since", of.PublishedSince}, {Published + "_until", of.PublishedUntil},
	} {
		if !m.At.IsZero() {
			all = append(all, m)
		}
	}
	return all
}

// Words are the moment as a person reads it, in UTC and in a zone.
func (m Moment) Words(zone *time.Location) string {
	return strings.ReplaceAll(m.Name, "_", " ") + " " + Zoned(m.At, zone)
}

// ends are the names of the fields with the two ends of a range of time.
type ends struct{ since, until string }

var (
	died      = ends{"since", "until"} // of dead letters; rejected events were sent then
	published = ends{"published_since", "published_until"}
)

// span reads a range of time. A time of the day without a day is the last one as the beginning, and as the end the
// first one after the beginning. Times that select nothing are refused.
func span(of ends, since, until string, now time.Time) (from, to time.Time, err error) {
	from, err = exactly(of.since, since, now)
	if err == nil {
		to, err = end(of.until, from, until, now)
	}
	switch {
	case err != nil:
	case from.After(now):
		err = &Fault{of.since, fmt.Sprintf("%s is in the future: %s", since, Zoned(from, now.Location()))}
	case !to.IsZero() && !to.After(from):
		err = &Fault{of.until, fmt.Sprintf("%s is not after since %s: %s and %s",
			until, since, Zoned(to, now.Location()), Zoned(from, now.Location()))}
	case isClock(until) && to.After(now):
		err = &Fault{of.until, fmt.Sprintf("%s is in the future; say which day: %s", until,
			bothDays(since, from.In(now.Location()), to.In(now.Location())))}
	}
	return from, to, err
}

// end is the end of a range that begins then; zero where none is given.
func end(field string, from time.Time, until string, now time.Time) (time.Time, error) {
	clock, ofDay := clockOf(until)
	if ofDay && !from.IsZero() {
		return first(clock, from.In(now.Location())).UTC(), nil
	}
	return exactly(field, until, now)
}

// bothDays are the two ranges that may be meant where an end is in the future: of the day before, and of this day.
func bothDays(since string, from, to time.Time) string {
	earlier := last(to, to.Add(-time.Second))
	clock, ofDay := clockOf(since)
	if !ofDay {
		return written(earlier) + " or " + written(to)
	}
	before := last(clock, from.Add(-time.Second))
	return fmt.Sprintf("%s to %s, or %s to %s", written(before), written(earlier), written(from), written(to))
}

// written is a time as an operator may write it, in its zone.
func written(at time.Time) string { return strings.TrimSuffix(at.Format(time.DateTime), ":00") }

// Zoned is a time in UTC, and in another zone as well.
func Zoned(at time.Time, zone *time.Location) string {
	const layout = "2006-01-02 15:04:05 MST"
	utc, here := at.UTC().Format(layout), at.In(zone)
	if _, offset := here.Zone(); offset == 0 {
		return utc + ", as here"
	}
	return utc + ", here " + here.Format(layout)
}
