package event_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/event"
)

// occurred decodes an event that occurred then.
func occurred(at string) (time.Time, error) {
	e, err := event.Decode([]byte(`{"tenant_id":"t","type":"user.deleted","occurred_at":"`+at+`","data":{}}`), "sqs-id")
	return e.OccurredAt, err //nolint:wrapcheck // the test reads it
}

func TestDecode_takesEveryFormOfRFC3339(t *testing.T) {
	const beforeLeap = "2016-12-31T23:59:59.999Z"
	for at, want := range map[string]string{
		"2026-11-20T09:02:11Z":             "2026-11-20T09:02:11Z",
		"2026-11-20t09:02:11z":             "2026-11-20T09:02:11Z",
		"2026-11-20t09:02:11.004+02:00":    "2026-11-20T07:02:11.004Z",
		"2026-11-20T09:02:11-00:00":        "2026-11-20T09:02:11Z", // an unknown offset, by RFC 3339
		"2026-11-20T09:02:11.1234567891Z":  "2026-11-20T09:02:11.123456789Z",
		"2026-11-20T23:02:11+23:59":        "2026-11-19T23:03:11Z",
		"2016-12-31T23:59:60Z":             beforeLeap,
		"2016-12-31t23:59:60.750z":         beforeLeap,
		"2016-12-31T15:59:60-08:00":        beforeLeap,
		"2017-01-01T05:29:60+05:30":        beforeLeap,
		"2016-12-31T23:59:60.00000000000Z": beforeLeap,
		"2026-11-20 09:02:11Z":             "", // the grammar has a T
		"2026-11-20T09:02:11,5Z":           "",
		"2016-12-31T23:59:60,5Z":           "",
		"2026-11-20T9:02:11Z":              "",
		"2026-11-20T09:02:11":              "",
		"2026-11-20T09:02Z":                "",
		"2026-11-20T09:02:11.Z":            "",
		"2026-11-20T09:02:11+0200":         "",
		"2026-11-20T09:02:11+24:00":        "",
		"2026-11-20T09:02:11+02:60":        "",
		"2026-11-20T24:00:00Z":             "",
		"2026-11-20T09:60:00Z":             "",
		"2026-11-20T09:02:61Z":             "",
		"2016-12-31T22:59:60Z":             "", // no leap second: an hour too early
		"2016-12-31T23:59:60+01:00":        "",
		"2026-02-29T00:00:00Z":             "",
		"2026-13-01T00:00:00Z":             "",
		"26-11-20T09:02:11Z":               "",
		" 2026-11-20T09:02:11Z":            "",
		"2026-11-20T09:02:11Z\\n":          "",
		"":                                 "",
	} {
		got, err := occurred(at)
		text := ""
		if err == nil {
			text = got.Format(time.RFC3339Nano)
		} else if diff := cmp.Diff(&event.Invalid{
			EventID: "sqs-id", Field: "occurred_at", Reason: "must be an RFC 3339 time",
		}, invalid(t, err)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", at, diff)
		}
		if text != want {
			t.Errorf("%q is %q, want %q", at, text, want)
		}
	}
}

// A moment keeps its meaning under the grammar of RFC 3339, in whatever case, fraction and offset.
func TestDecode_readsBackEveryMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-60_000_000_000, 250_000_000_000).Draw(t, "second"), 0)
		offset := rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "offset")
		local := at.In(time.FixedZone("", offset*60))
		fraction, nanos := "", 0
		if digits := rapid.IntRange(0, 12).Draw(t, "digits"); digits > 0 {
			nanos = rapid.IntRange(0, 999_999_999).Draw(t, "nanoseconds")
			fraction = ("." + fmt.Sprintf("%09d", nanos) + "000")[:digits+1]
			nanos -= nanos % pow10(9-digits)
		}
		zone := rapid.SampledFrom([]string{local.Format("-07:00"), "Z", "z"}).Draw(t, "zone")
		if zone == "Z" || zone == "z" {
			local = at.UTC()
		}
		text := local.Format("2006-01-02") + rapid.SampledFrom([]string{"T", "t"}).Draw(t, "T") +
			local.Format("15:04:05") + fraction + zone
		got, err := occurred(text)
		if err != nil || !got.Equal(at.Add(time.Duration(nanos))) {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	})
}

func pow10(n int) int {
	if n <= 0 {
		return 1
	}
	return 10 * pow10(n-1)
}
