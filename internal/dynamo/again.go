package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// maxTries bounds how often a call is made again for what a batch left unprocessed, or for a
// transaction that another one was in the way of.
const maxTries = 6

// pause waits before the next try: exponential with full jitter, as AWS asks for batch operations.
func pause(ctx context.Context, try int) error {
	limit := 25 * time.Millisecond << try
	timer := time.NewTimer(rand.N(limit)) //nolint:gosec // jitter
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// conditionHeld tells a condition that did not hold from an error.
func conditionHeld(doing string, err error) (written bool, _ error) {
	var refused *types.ConditionalCheckFailedException
	if errors.As(err, &refused) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", doing, err)
	}
	return true, nil
}
