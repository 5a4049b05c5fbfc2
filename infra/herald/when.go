package main

import (
	"time"

	"github.com/urfave/cli/v3"
)

// parseTime reads a time as operators write it: 2026-01-02T15:04:05Z, 2026-01-02, 22:00 (the last one, here),
// or 2h for so long ago.
func parseTime(flag, text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly, "15:04", time.TimeOnly} {
		at, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		if at.Year() == 0 { // a time of the day
			at = time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, now.Location())
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
		}
		return at, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fail(exitUsage, "--%s: %q is no time; give 22:00, 2h (ago), 2026-01-02 or 2026-01-02T15:04:05Z",
		flag, text)
}

// times are the fields of a request that --since, --until and --before set; --since 22:00 --until 06:00 is last night.
func (a *app) times(c *cli.Command) (fields, error) {
	f, at := fields{}, map[string]time.Time{}
	for flag, field := range map[string]string{"since": "since", "until": "until", "before": "discarded_before"} {
		text := c.String(flag)
		if text == "" {
			continue
		}
		var err error
		if at[flag], err = parseTime(flag, text, a.now()); err != nil {
			return nil, err
		}
		f[field] = at[flag].UTC().Format(time.RFC3339)
	}
	if f["since"] != nil && f["until"] != nil && !at["until"].After(at["since"]) {
		return nil, fail(exitUsage, "--until %s is not after --since %s: %s and %s", c.String("until"), c.String("since"),
			f["until"], f["since"])
	}
	return f, nil
}
