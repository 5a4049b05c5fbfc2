package awscall

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
)

// retries is the SDK's way to try again.
type retries struct {
	standard *retry.Standard // nil: another retryer, which may have to be asked before the first try
	attempt  *retry.Attempt
}

func newRetries(retryer aws.Retryer) retries {
	standard, _ := retryer.(*retry.Standard)
	return retries{standard, retry.NewAttemptMiddleware(retryer, func(request any) any { return request })}
}

// run tries until it succeeds, or until the SDK's retryer has it fail.
func (r *retries) run(ctx context.Context, try func() error) error {
	if r.standard == nil || ctx.Err() != nil {
		return r.loop(ctx, try)
	}
	// Almost all succeed at once: for these the SDK's loop, which costs 24 allocations, need not begin.
	err := try()
	switch {
	case err == nil:
		if release, err := r.standard.GetAttemptToken(ctx); err == nil {
			_ = release(nil) // each success allows for more retries; the call has succeeded all the same
		}
		return nil
	case ctx.Err() != nil:
		return r.ended(ctx, err)
	}
	first := err
	err = r.loop(ctx, func() error {
		if err := first; err != nil {
			first = nil
			return err
		}
		return try()
	})
	if first != nil { // ctx has ended meanwhile
		return r.ended(ctx, first)
	}
	return err
}

// ended is what the loop says of a first try that failed where there is no time for another: it does not
// begin when ctx has ended.
func (r *retries) ended(ctx context.Context, first error) error {
	switch {
	case !r.standard.IsErrorRetryable(first):
		return first
	case r.standard.MaxAttempts() == 1:
		return &retry.MaxAttemptsError{Attempt: 1, Err: first}
	}
	if _, err := r.standard.GetRetryToken(ctx, first); err != nil {
		return errors.Join(first, err)
	}
	return &aws.RequestCanceledError{Err: ctx.Err()}
}

func (r *retries) loop(ctx context.Context, try func() error) error {
	next := middleware.FinalizeHandlerFunc(func(context.Context, middleware.FinalizeInput) (
		out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
	) {
		return out, metadata, try()
	})
	_, _, err := r.attempt.HandleFinalize(ctx, middleware.FinalizeInput{}, next)
	return err
}
