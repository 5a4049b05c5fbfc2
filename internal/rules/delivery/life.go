package delivery

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Life is the state that a delivery carries with it, in addition to its place in the schedule. It travels as one
// message attribute, since SQS allows only ten, and is stored with the message in Backlog. A replay begins a new life.
// Times are exact to the millisecond. The encoded form leaves out zero fields.
type Life struct {
	// StartedAt is the time of the delivery's first send, or of its replay.
	StartedAt time.Time

	// DueAt is the time of the next attempt by the schedule. It is zero before the first failure.
	DueAt time.Time

	// Probe is the time at which this message was claimed as a probe. It is zero for any other message.
	Probe time.Time

	// Slot is the moment that release has taken of the endpoint's limit for this attempt. It is zero for any other
	// message.
	Slot time.Time

	// Reason is the reason of the last failed attempt, or of the wait.
	Reason Reason

	// Status is the HTTP status of the last attempt; 0 if there was none.
	Status int
}

// lifeVersion begins every encoded life. A life with another version was written by a later release and is unreadable.
const lifeVersion = "v1"

const (
	maxLifeMillis = 253_402_300_799_999 // the year 9999
	maxReason     = 64
	maxStatus     = 999
)

// Encode returns the text of the attribute: the version, then every field that is not zero as
// ",name=value", always in the same order. Every life has exactly one text.
func (l Life) Encode() string {
	text := append(make([]byte, 0, 128), lifeVersion...)
	number := func(name string, value int64) {
		if value > 0 {
			text = strconv.AppendInt(append(text, name...), value, 10)
		}
	}
	number(",started=", millis(l.StartedAt))
	number(",due=", millis(l.DueAt))
	number(",probe=", millis(l.Probe))
	number(",slot=", millis(l.Slot))
	if l.Reason != "" {
		text = append(append(text, ",reason="...), l.Reason...)
	}
	number(",status=", int64(l.Status))
	return string(text)
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// DecodeLife reads the text of Encode, and nothing else: fields in another order, repeated or unknown,
// and numbers with leading zeros are refused.
func DecodeLife(text string) (Life, error) {
	var l Life
	for field := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "started":
			l.StartedAt = moment(value)
		case "due":
			l.DueAt = moment(value)
		case "probe":
			l.Probe = moment(value)
		case "slot":
			l.Slot = moment(value)
		case "reason":
			l.Reason = reason(value)
		case "status":
			l.Status = int(number(value, maxStatus))
		}
	}
	if l.Encode() != text {
		return Life{}, fmt.Errorf("%.150q is no life of this version", text)
	}
	return l, nil
}

// number is 0, which Encode leaves out, for a text that is no number up to the limit.
func number(text string, limit int64) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > limit {
		return 0
	}
	return n
}

func moment(text string) time.Time { return time.UnixMilli(number(text, maxLifeMillis)).UTC() }

// reason is "" for a text that is none.
func reason(text string) Reason {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789_"
	if len(text) > maxReason || strings.Trim(text, letters) != "" {
		return ""
	}
	return Reason(text)
}
