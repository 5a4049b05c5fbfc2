// Package retry decides when a failed delivery is tried again. It is pure: time and
// randomness are parameters.
//
// With the defaults (base 5 s, factor 4, 9 retries) the waits are 5 s, 20 s, 80 s, 5 min,
// 21 min, 85 min, 5.7 h, 12 h, 12 h, each up to 20 % longer: 10 attempts in about 31.5 h.
// It promises waits that are never early, that grow until the cap, and that never exceed
// Cap. On RetryQueue nothing waits longer than MaxDelay.
//
// Every POST but a probe uses one place of the schedule, also before its due time, in a recovery or by an operator's
// order: a delivery gets ten POSTs at most, and probes. After an internal fault a delivery waits
// Base·Factor^(receives-1). If it stays on its queue, SQS counts the receive, and the fault may use a place that a
// short wait follows: by default the first three, so that a delivery gets seven POSTs at least. No fault uses another
// place, and none kills. Of duplicates in one batch, which share one attempt, the one with the most places left
// decides.
package retry

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// Cap is the longest wait, 200 s less than the longest visibility timeout of SQS.
	Cap = 43_000 * time.Second
	// MaxDelay is the longest DelaySeconds of SendMessage.
	MaxDelay = 900 * time.Second
	// MaxRetries bounds Schedule.MaxRetries so that the longest schedule ends within 7 of
	// the 14 days that a message is kept.
	MaxRetries = 18

	jitter = 0.2
)

// Schedule is exponential backoff: retry n waits Base·Factor^(n-1).
type Schedule struct {
	// Base is the wait before the first retry. The default is 5 s.
	Base time.Duration

	// Factor is the growth of the wait with each retry, at least 1. The default is 4.
	Factor float64

	// MaxRetries is the number of retries after the first attempt, 1 to 18. The default is 9.
	MaxRetries int

	// Long is the longest short wait; 0 stands for LongWait.
	Long time.Duration

	// MaxLife is the age from which a life ends instead of waiting again; 0 stands for the constant MaxLife.
	MaxLife time.Duration
}

// Wait returns the wait before retry n (1 for the first). random is uniform in [0, 1). floor is the receiver's
// Retry-After, 0 for none. It gets jitter as well, because a receiver may give thousands of deliveries the same date.
// elapsed is the time since the message was received: the rest of Cap bounds the answer.
func (s Schedule) Wait(n int, random float64, floor, elapsed time.Duration) time.Duration {
	base := float64(s.Base) * math.Pow(s.Factor, float64(max(n, 1)-1))
	wait := Cap
	// CONDITIONALS_BOUNDARY: a wait of exactly the cap stays the cap: jitter lengthens it, and min cuts it again.
	if base < float64(Cap) { // also false for +Inf
		wait = min(time.Duration(base*(1+jitter*random)), Cap)
	}
	floor += time.Duration(jitter * random * float64(floor))
	wait = min(max(wait, floor), Cap-max(elapsed, 0))
	return max(wait, 0)
}

// After reads a Retry-After header (RFC 9110, 10.2.3: seconds or an HTTP date) as a wait from now, at most Cap. date is
// the Date header of the same answer, from which a date is counted: the receiver's clock may be wrong. Without one that
// can be read, it is counted from now. Anything negative, past or unreadable is 0.
func After(header, date string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if header == "" {
		return 0
	}
	if strings.Trim(header, "0123456789") == "" {
		seconds, err := strconv.ParseInt(header, 10, 64)
		// CONDITIONALS_BOUNDARY: exactly the seconds of the cap are the cap either way.
		if err != nil || seconds > int64(Cap/time.Second) { // more digits than an int64: as long as can be
			return Cap
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	if shown, err := http.ParseTime(strings.TrimSpace(date)); err == nil {
		now = shown
	}
	return min(max(at.Sub(now), 0), Cap)
}

// Validate names every setting out of its range.
func (s Schedule) Validate() error {
	var errs []error
	if s.Base < time.Second || s.Base > Cap {
		errs = append(errs, errors.New("retry base must be 1 to 43000 seconds"))
	}
	if !(s.Factor >= 1 && s.Factor <= 100) { // also refuses NaN
		errs = append(errs, errors.New("retry factor must be 1 to 100"))
	}
	if s.MaxRetries < 1 || s.MaxRetries > MaxRetries {
		errs = append(errs, fmt.Errorf("max retries must be 1 to %d", MaxRetries))
	}
	if s.Long < 0 || s.Long > MaxDelay {
		errs = append(errs, errors.New("a long wait must be 0 to 900 seconds"))
	}
	if s.MaxLife < 0 || s.MaxLife > MaxLife {
		errs = append(errs, errors.New("a life must last 7 days at most"))
	}
	return errors.Join(errs...)
}
