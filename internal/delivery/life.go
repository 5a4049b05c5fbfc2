package delivery

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Life is the state that a delivery carries with it besides its place in the schedule. It travels as one
// message attribute, since SQS allows only ten, and is stored with the message in Backlog. A replay
// begins a new life. Times are exact to the millisecond; zero fields are left out.
type Life struct {
	StartedAt time.Time // first send of the delivery, or its replay
	DueAt     time.Time // the schedule's time for the next attempt; zero before the first failure
	Probe     time.Time // the claim of the probe that this message is; zero: none
	Reason    Reason    // of the last failed attempt, or of the wait
	Status    int       // HTTP status of the last attempt, 0 for none
}

// lifeVersion begins every encoded life. Any other is of a later release and unreadable here.
const lifeVersion = "v1"

const (
	maxLifeMillis = 253_402_300_799_999 // the year 9999
	maxReason     = 64
	maxStatus     = 999
)

// Encode returns the text of the attribute: the version, then every field that is not zero as
// ",name=value", always in the same order. Every life has exactly one text.
func (l Life) Encode() string {
	var b strings.Builder
	b.WriteString(lifeVersion)
	number := func(name string, value int64) {
		if value > 0 {
			b.WriteString("," + name + "=" + strconv.FormatInt(value, 10))
		}
	}
	number("started", millis(l.StartedAt))
	number("due", millis(l.DueAt))
	number("probe", millis(l.Probe))
	if l.Reason != "" {
		b.WriteString(",reason=" + string(l.Reason))
	}
	number("status", int64(l.Status))
	return b.String()
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

var errLifeVersion = errors.New("life is of another version")

// DecodeLife reads the text of Encode, and nothing else: fields in another order, repeated or unknown,
// and numbers with leading zeros are refused.
func DecodeLife(text string) (Life, error) {
	version, rest, more := strings.Cut(text, ",")
	if version != lifeVersion {
		return Life{}, errLifeVersion
	}
	r := lifeReader{rest: rest, more: more}
	l := Life{
		StartedAt: r.time("started"),
		DueAt:     r.time("due"),
		Probe:     r.time("probe"),
		Reason:    r.reason(),
		Status:    int(r.number("status", maxStatus)),
	}
	if r.err == nil && r.more {
		r.err = fmt.Errorf("life: nothing reads %.20q", r.rest)
	}
	if r.err != nil {
		return Life{}, r.err
	}
	return l, nil
}

// lifeReader takes fields off the front, in their order; a missing one is zero.
type lifeReader struct {
	rest string
	more bool
	err  error
}

func (r *lifeReader) take(name string) (string, bool) {
	rest, ok := strings.CutPrefix(r.rest, name+"=")
	if r.err != nil || !r.more || !ok {
		return "", false
	}
	value, rest, more := strings.Cut(rest, ",")
	r.rest, r.more = rest, more
	return value, true
}

func (r *lifeReader) number(name string, limit int64) int64 {
	text, ok := r.take(name)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > limit || strconv.FormatInt(n, 10) != text {
		r.err = fmt.Errorf("life: %s is %.20q", name, text)
		return 0
	}
	return n
}

func (r *lifeReader) time(name string) time.Time {
	n := r.number(name, maxLifeMillis)
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

func (r *lifeReader) reason() Reason {
	text, ok := r.take("reason")
	if !ok {
		return ""
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789_"
	if text == "" || len(text) > maxReason || strings.Trim(text, letters) != "" {
		r.err = fmt.Errorf("life: reason is %.20q", text)
	}
	return Reason(text)
}
