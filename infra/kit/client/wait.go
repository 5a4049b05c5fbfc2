package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Check reports whether the thing waited for has come.
type Check = func(context.Context) (bool, error)

// Eventually calls check until it returns true and no error, and fails when limit has passed. It asks less and less
// often, since asking keeps the local stack from its work.
func Eventually(ctx context.Context, limit time.Duration, what string, check Check) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last error
	for pause := 50 * time.Millisecond; ; pause = min(pause*5/4, time.Second/2) {
		ok, err := check(ctx)
		if ok && err == nil {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		if !Pause(ctx, pause) {
			return errors.Join(fmt.Errorf("waited %s for %s", limit, what), last)
		}
	}
}

// Pause waits, and reports whether the context is still there then.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
