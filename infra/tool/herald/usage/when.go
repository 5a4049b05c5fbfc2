package usage

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The forms of a time. A time without a zone is in this machine's zone.
var (
	zoned = []string{
		"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04Z07:00", "2006-01-02 15:04Z0700",
	}
	local = []string{"2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}
)

// spelled unifies spellings of a time: with a T or a space, with Z as in tables or UTC as on pages, and with an offset
// as in RFC 3339 or in Git's log.
var spelled = strings.NewReplacer(" UTC", "Z", " +", "+", " -", "-", "T", " ")

// parsed reads a time that has one of the layouts.
func parsed(text string, layouts []string) (at time.Time, found bool) {
	text = spelled.Replace(strings.ToUpper(text))
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// ParseTime reads a time as operators write it: 2026-01-02T15:04:05Z, 2026-01-02, 22:00 (the last one, here),
// 7d or 2h for so long ago, yesterday, yesterday 22:00, or seconds since 1970. A text that is no time is a [Fault] of
// its field.
func ParseTime(field, text string, now time.Time) (time.Time, error) {
	if text == "now" {
		return now, nil
	}
	if at, found := parseDay(text, now); found {
		return at, nil
	}
	if at, found := parseClock(text, now); found {
		return at, nil
	}
	if unix.MatchString(text) {
		seconds, err := strconv.ParseInt(text[:len("1767366245")], 10, 64)
		return time.Unix(seconds, 0), err
	}
	if d, ok := parseAgo(text); ok {
		return now.Add(-d), nil
	}
	const forms = "7d or 2h (ago), 22:00, 2026-01-02 or 2026-01-02T15:04:05Z"
	return time.Time{}, &Fault{field, fmt.Sprintf("%q is not a time; give %s", text, forms)}
}

// parseDay reads today or yesterday, from their first moments on, or a time of that day behind it.
func parseDay(text string, now time.Time) (at time.Time, found bool) {
	name, clock, timed := strings.Cut(text, " ")
	day := dayOf(now)
	switch name {
	case "today":
	case "yesterday":
		day = dayOf(moments(day, now.Location())[0].Add(-time.Second))
	default:
		return time.Time{}, false
	}
	of, isClock := clockOf(clock)
	if timed && !isClock {
		return time.Time{}, false
	}
	if strings.HasPrefix(clock, "24") {
		day = day.AddDate(0, 0, 1)
	}
	return moments(on(day, of), now.Location())[0], true
}

// clockOf reads a time of the day without a day; midnight where the text is none. At 24:00 a day ends.
func clockOf(text string) (clock time.Time, found bool) {
	if text == "24:00" {
		text = "00:00"
	}
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func isClock(text string) bool {
	_, is := clockOf(text)
	return is
}

// parseClock reads a time by its layout. A time of the day is the last moment at which clocks showed it, a date its
// first moment.
func parseClock(text string, now time.Time) (time.Time, bool) {
	if clock, is := clockOf(text); is {
		return last(clock, now), true
	}
	if at, found := parsed(text, zoned); found {
		return at, true
	}
	day, ends := strings.CutSuffix(text, "24:00")
	if ends {
		text = day + "00:00"
	}
	at, found := parsed(text, local)
	if !found {
		return time.Time{}, false
	}
	if ends {
		at = at.AddDate(0, 0, 1)
	}
	return moments(at, now.Location())[0], true
}

var (
	// unix is a time as logs have it, in seconds or in milliseconds.
	unix = regexp.MustCompile(`^[1-9][0-9]{9}([0-9]{3})?$`)
	// ago is a part of a distance.
	ago = regexp.MustCompile(`^ *([0-9]{1,6}(?:\.[0-9]{1,3})?) *([a-z]+)`)
)

// units are the parts of a distance. A month or a year is none: it has no length.
var units = map[string]time.Duration{
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour, "m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"s": time.Second, "sec": time.Second, "second": time.Second,
}

// longestAgo is longer than anything is kept.
const longestAgo = 20 * 365 * 24 * time.Hour

// parseAgo reads a distance: 7d, 1d12h, "90 minutes ago".
func parseAgo(text string) (sum time.Duration, ok bool) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "-"), " ago")
	for text != "" {
		part := ago.FindStringSubmatch(text)
		if part == nil {
			return 0, false
		}
		unit, known := units[part[2]]
		if !known {
			unit = units[strings.TrimSuffix(part[2], "s")]
		}
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil || unit == 0 || n*float64(unit) > float64(longestAgo) {
			return 0, false
		}
		sum += time.Duration(n * float64(unit))
		text = text[len(part[0]):]
	}
	return sum, sum > 0 && sum <= longestAgo
}
