package usage

import (
	"testing"
	"time"
)

var now = time.Date(2026, 5, 2, 9, 0, 0, 0, time.UTC)

func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"08:30": "2026-05-02T08:30:00Z", "09:30": "2026-05-01T09:30:00Z", "90m": "2026-05-02T07:30:00Z",
		"2026-04-30": "2026-04-30T00:00:00Z", "2026-04-30T01:02:03+01:00": "2026-04-30T00:02:03Z",
	} {
		got, err := ParseTime("since", text, now)
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestParseTime_takesWhatOperatorsType(t *testing.T) {
	zone := time.FixedZone("CEST", 7200)
	here := now.In(zone) // 11:00
	for text, want := range map[string]string{
		"7d": "2026-04-25T09:00:00Z", "2w": "2026-04-18T09:00:00Z", "1d12h": "2026-04-30T21:00:00Z",
		"1w2d": "2026-04-23T09:00:00Z", "1.5d": "2026-04-30T21:00:00Z", "90m": "2026-05-02T07:30:00Z",
		"1h30m": "2026-05-02T07:30:00Z", "30min": "2026-05-02T08:30:00Z", "45s": "2026-05-02T08:59:15Z",
		"7 days": "2026-04-25T09:00:00Z", "7 days ago": "2026-04-25T09:00:00Z", "1day": "2026-05-01T09:00:00Z",
		"3hrs": "2026-05-02T06:00:00Z", "2 weeks": "2026-04-18T09:00:00Z", "-2h": "2026-05-02T07:00:00Z",
		"now": "2026-05-02T09:00:00Z", "today": "2026-05-01T22:00:00Z", "yesterday": "2026-04-30T22:00:00Z",
		"2026-04-30": "2026-04-29T22:00:00Z", "2026-04-30T15:04": "2026-04-30T13:04:00Z",
		"2026-04-30 15:04": "2026-04-30T13:04:00Z", "2026-04-30T15:04:05": "2026-04-30T13:04:05Z",
		"2026-04-30 15:04:05Z": "2026-04-30T15:04:05Z", "2026-04-30 15:04:05": "2026-04-30T13:04:05Z",
		"2026-04-30T15:04:05.123Z": "2026-04-30T15:04:05Z", "2026-04-30T15:04:05+01:00": "2026-04-30T14:04:05Z",
		"10:30": "2026-05-02T08:30:00Z", "11:30": "2026-05-01T09:30:00Z", "10:30:05": "2026-05-02T08:30:05Z",
		"1767366245": "2026-01-02T15:04:05Z", "1767366245000": "2026-01-02T15:04:05Z",
	} {
		got, err := ParseTime("since", text, here)
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s is %s, %v; want %s", text, got.UTC(), err, want)
		}
	}
	for _, text := range []string{
		"", " ", "7", "d", "7x", "1y", "1mo", "7d3", "d7", "0", "0d", "1e3d", "-", "--7d", "ago", "999999w", "20260102",
		"176736624", "17673662450000", "24:00", "2026-02-30", "tomorrow", "7d ago ago", "1_000h",
	} {
		if got, err := ParseTime("since", text, here); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}
