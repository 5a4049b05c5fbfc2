package delivery

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var lifeEpoch = time.Date(2026, 5, 1, 12, 0, 0, 123_000_000, time.UTC)

// Messages of one release are still on their way when the next release starts, so these texts stay valid for ever.
var lives = map[string]Life{
	"v1":                       {},
	"v1,started=1777636800123": {StartedAt: lifeEpoch},
	"v1,started=1777636800123,due=1777636860123,probe=1777636800124,reason=http_5xx,status=503": {
		StartedAt: lifeEpoch, DueAt: lifeEpoch.Add(time.Minute), Probe: lifeEpoch.Add(time.Millisecond),
		Reason: ReasonHTTP5xx, Status: 503,
	},
	"v1,reason=timeout": {Reason: ReasonTimeout},
	"v1,status=429":     {Status: 429},
	"v1,status=999":     {Status: 999},
	"v1,probe=1":        {Probe: time.UnixMilli(1).UTC()},
	"v1,started=1777636800123,slot=1777636800124": {
		StartedAt: lifeEpoch, Slot: lifeEpoch.Add(time.Millisecond),
	},

	"v1,reason=" + longest: {Reason: Reason(longest)},
}

// longest is the longest reason that a life may have.
var longest = strings.Repeat("a", 64)

func TestLife_Encode(t *testing.T) {
	for text, life := range lives {
		if got := life.Encode(); got != text {
			t.Errorf("%+v is %q, want %q", life, got, text)
		}
		got, err := DecodeLife(text)
		if diff := cmp.Diff(life, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got)\n%s", text, err, diff)
		}
	}
}

func TestDecodeLife_refuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                "",
		"another version":        "v2,started=1",
		"no version":             "started=1",
		"a version that goes on": "v10",
		"an empty field":         "v1,",
		"an empty field inside":  "v1,,status=1",
		"an unknown field":       "v1,colour=red",
		"a field twice":          "v1,started=1,started=1",
		"another order":          "v1,due=1,started=1",
		"a slot before a probe":  "v1,slot=1,probe=1",
		"a leading zero":         "v1,probe=01",
		"a sign":                 "v1,probe=+1",
		"nothing for a number":   "v1,probe=",
		"zero":                   "v1,probe=0",
		"less than zero":         "v1,status=-1",
		"a fraction":             "v1,started=1.5",
		"a number too large":     "v1,probe=9223372036854775808",
		"a time too late":        "v1,started=253402300800000",
		"a status too large":     "v1,status=1000",
		"a reason of no letters": "v1,reason=",
		"a reason in capitals":   "v1,reason=Timeout",
		"a reason with a space":  "v1,reason=http 5xx",
		"a reason too long":      "v1,reason=" + strings.Repeat("a", 65),
		"a trailing comma":       "v1,status=503,",
		"a name without a value": "v1,status",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := DecodeLife(text); err == nil {
				t.Errorf("%q is %+v", text, got)
			}
		})
	}
}

// A life that can be read has exactly one text, so that two functions never disagree about a life.
func FuzzDecodeLife(f *testing.F) {
	for text := range lives {
		f.Add(text)
	}
	f.Add("v1,started=1,due=1,status=0")
	f.Fuzz(func(t *testing.T, text string) {
		life, err := DecodeLife(text)
		if err != nil {
			return
		}
		if again := life.Encode(); again != text {
			t.Errorf("%q is read as %+v, which is %q", text, life, again)
		}
	})
}
