package event

import (
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// timeForm is a date-time of RFC 3339 (5.6). time.Parse takes other forms, too, such as a comma or the hour 9, and
// neither the letters t and z nor a leap second.
var timeForm = regexp.MustCompile(TimePattern)

// TimePattern is the form of a time in capital letters. Small letters are as good.
const TimePattern = `^(\d{4}-\d\d-\d\dT\d\d:\d\d:)(\d\d)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`

// timeOf reads a time that can be written again in UTC.
func timeOf(v jsontext.Value) (time.Time, bool) {
	s, ok := text(v)
	if !ok {
		return time.Time{}, false
	}
	parts := timeForm.FindStringSubmatch(strings.ToUpper(s))
	if parts == nil {
		return time.Time{}, false
	}
	minute := parts[1]
	second := parts[2]
	fraction := parts[3]
	zone := parts[4]
	leap := second == "60"
	if leap {
		second, fraction = "59", ".999" // time.Time has no leap second: this is the last millisecond before
	}
	at, err := time.Parse(time.RFC3339, minute+second+fraction+zone)
	at = at.UTC()
	if leap && (at.Hour() != 23 || at.Minute() != 59) {
		return time.Time{}, false
	}
	// In UTC the time may fall into the year before 0 or after 9999, which RFC 3339 cannot write.
	return at, err == nil && at.Year() >= 0 && at.Year() <= 9999
}
