package awscall

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tokens is a limit of retries that counts.
type tokens struct{ left, refilled int }

func (l *tokens) GetToken(_ context.Context, cost uint) (func() error, error) {
	if l.left < int(cost) {
		return nil, errors.New("none left")
	}
	l.left -= int(cost)
	return func() error { return l.AddTokens(cost) }, nil
}

func (l *tokens) AddTokens(n uint) error {
	l.left += int(n)
	l.refilled++
	return nil
}

// What the SDK's own loop makes of the same tries is the model.
func TestRetries_run_isTheSDKsLoop(t *testing.T) {
	results := map[string]error{
		"ok": nil, "throttled": &smithy.GenericAPIError{Code: "ThrottlingException"},
		"refused": &smithy.GenericAPIError{Code: "ValidationException"}, "cancelled": &aws.RequestCanceledError{},
	}
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.SampledFrom([]string{"ok", "throttled", "refused", "cancelled"})
		script := rapid.SliceOfN(one, 5, 5).Draw(t, "tries")
		cancelled := rapid.IntRange(0, 4).Draw(t, "cancelled after") // 4: never
		attempts := rapid.IntRange(1, 3).Draw(t, "attempts")
		fake := rapid.Bool().Draw(t, "a limit that does not look at the context")
		left := rapid.IntRange(0, 20).Draw(t, "tokens")
		type outcome struct {
			Tries, Left, Refilled int
			Error                 string
		}
		play := func(run func(*retries, context.Context, func() error) error) (o outcome) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			limit := &tokens{left: left}
			r := newRetries(retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = attempts
				if o.RateLimiter = limit; !fake {
					o.RateLimiter = ratelimit.NewTokenRateLimit(uint(left))
				}
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) {
					select {
					case <-ctx.Done():
						return time.Hour, nil // a pause that ends at once may end before it sees that
					default:
						return 0, nil
					}
				})
			}))
			if cancelled == 0 {
				cancel()
			}
			err := run(&r, ctx, func() error {
				o.Tries++
				if o.Tries == cancelled {
					cancel()
				}
				return results[script[o.Tries-1]]
			})
			if err != nil {
				o.Error = err.Error()
			}
			o.Left, o.Refilled = limit.left, limit.refilled
			return o
		}
		if diff := cmp.Diff(play((*retries).loop), play((*retries).run)); diff != "" {
			t.Errorf("(-the SDK's loop +ours)\n%s", diff)
		}
	})
}

// One that limits first tries, too, has to be asked about them.
func TestRetries_run_asksAnotherRetryerBeforeTheFirstTry(t *testing.T) {
	asked := &asking{Standard: retry.NewStandard()}
	r := newRetries(asked)
	if err := r.run(t.Context(), func() error { return nil }); err != nil || asked.n != 1 {
		t.Errorf("asked %d times: %v", asked.n, err)
	}
}

type asking struct {
	*retry.Standard
	n int
}

func (a *asking) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	a.n++
	return a.Standard.GetAttemptToken(ctx)
}

// What AWS said is not lost where there is no time for another try.
func TestRetries_run_keepsTheErrorOfACallThatIsCancelled(t *testing.T) {
	r := newRetries(retry.NewStandard())
	ctx, cancel := context.WithCancel(t.Context())
	err := r.run(ctx, func() error {
		cancel()
		return &smithy.GenericAPIError{Code: "ThrottlingException"}
	})
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "ThrottlingException" {
		t.Errorf("failed with %v", err)
	}
}

// ending is a context that ends as soon as it has been asked twice whether it has.
type ending struct {
	context.Context
	asked int
}

func (e *ending) Err() error {
	if e.asked++; e.asked <= 2 {
		return nil
	}
	return e.Context.Err()
}

// The loop then ends without a try.
func TestRetries_run_keepsTheErrorWhereTheContextEndsBeforeTheLoop(t *testing.T) {
	r := newRetries(retry.NewStandard())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := r.run(&ending{Context: ctx}, func() error { return &smithy.GenericAPIError{Code: "ValidationException"} })
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "ValidationException" {
		t.Errorf("failed with %v", err)
	}
}
