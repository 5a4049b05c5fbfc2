package main

import (
	"time"
)

// clockLayouts are times of day, in the time zone of the machine: the last such time.
var clockLayouts = []string{"15:04", "15:04:05"}

// parseTime reads a time as operators write it: 2026-01-02T15:04:05Z, 2026-01-02, 22:00 (the last one, here),
// or 2h for so long ago. Until a time of day after since is the first after it.
func parseTime(flag, text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return at, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	for _, layout := range clockLayouts {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, now.Location())
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return at, nil
	}
	return time.Time{}, fail(exitUsage, "--%s: %q is no time; give 22:00, 2h (ago), 2026-01-02 or 2026-01-02T15:04:05Z",
		flag, text)
}

// span reads --since and --until as fields of a request; --since 22:00 --until 06:00 is last night, and an end
// that is still to come is left out.
func span(since, until string, now time.Time) (fields, error) {
	f := fields{}
	var from, to time.Time
	var err error
	if since != "" {
		if from, err = parseTime("since", since, now); err != nil {
			return nil, err
		}
		f["since"] = from.UTC().Format(time.RFC3339)
	}
	if until != "" {
		if to, err = parseTime("until", until, now); err != nil {
			return nil, err
		}
		f["until"] = to.UTC().Format(time.RFC3339)
	}
	if !from.IsZero() && !to.IsZero() && !to.After(from) {
		return nil, fail(exitUsage, "--until %s is not after --since %s: %s and %s", until, since,
			to.UTC().Format(time.RFC3339), from.UTC().Format(time.RFC3339))
	}
	return f, nil
}
