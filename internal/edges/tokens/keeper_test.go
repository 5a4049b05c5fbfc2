package tokens_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/tokens"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// fleet is some processes on one account, and what a token server was asked, since the beginning.
type fleet struct {
	*testing.T
	m     *model.Model
	all   []*tokens.Keeper
	began time.Time
	asked []time.Duration
}

func newFleet(t *testing.T, processes int, answer func(n int) model.TokenAnswer) *fleet {
	t.Helper()
	f := &fleet{T: t, m: model.New(), began: time.Now()}
	f.m.TokenServer = func(token.Grant) model.TokenAnswer {
		f.asked = append(f.asked, time.Since(f.began))
		return answer(len(f.asked))
	}
	for n := range processes {
		p := f.m.Process(fmt.Sprint("deliver ", n))
		f.all = append(f.all, &tokens.Keeper{
			Server: p.Asker(), Shared: p.Tokens(), Patience: token.Patience, Now: time.Now,
		})
	}
	return f
}

// wanted is an endpoint's token, of one of its secrets.
func (f *fleet) wanted(id, secret string) tokens.Wanted {
	f.Helper()
	key, err := token.NewKey(token.Secrets{
		TenantID: "acme", EndpointID: id, Signing: "whsec", Client: secret, Sealed: [][]byte{[]byte(secret)},
	})
	if err != nil {
		f.Fatal(err)
	}
	return tokens.Wanted{
		EndpointKey: dynamo.EndpointKey{TenantID: "acme", EndpointID: id},
		Grant:       token.Grant{OAuth: endpoint.OAuth{TokenURL: "https://id.example/", ClientID: id}, Secret: secret},
		Key:         key,
	}
}

// get has a process get a token.
func (f *fleet) get(process int, w tokens.Wanted) string {
	access, why, err := f.all[process].Token(f.Context(), w)
	if err != nil {
		f.Error(err)
	}
	return access + string(why)
}

func tokenFor(life, took time.Duration) func(int) model.TokenAnswer {
	return func(n int) model.TokenAnswer {
		return model.TokenAnswer{Access: token.Access{Token: strings.Repeat("t", n), Life: life}, Took: took}
	}
}

// All processes that want a token at once get the one that one of them asks for, and wait no longer than for their own.
func TestKeeper_Token_isAskedForOnceByManyProcesses(t *testing.T) {
	for took := 100 * time.Millisecond; took <= 4700*time.Millisecond; took += 460 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 20, tokenFor(time.Minute, took))
			w := f.wanted("webhook_1", "a")
			var wait sync.WaitGroup
			for n := range 100 {
				wait.Go(func() {
					if got := f.get(n%20, w); got != "t" {
						t.Errorf("process %d: %q from a server that takes %s", n%20, got, took)
					}
				})
			}
			wait.Wait()
			if all := time.Since(f.began); all > token.Patience || all > took+took/2+time.Second || len(f.asked) != 1 {
				t.Errorf("asked %d times, ended after %s", len(f.asked), all)
			}
		})
	}
}

// A token server that gives no answer keeps each process for its time at most, and is then left alone by all.
func TestKeeper_Token_leavesAServerAloneAfterAFailure(t *testing.T) {
	for took, why := range map[time.Duration]delivery.Reason{
		time.Hour: delivery.ReasonTokenUnreachable, 0: delivery.ReasonTokenRefused,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 3, func(int) model.TokenAnswer { return model.TokenAnswer{Reason: why, Took: took} })
			w := f.wanted("webhook_1", "a")
			for f.began = time.Now(); time.Since(f.began) < 5*time.Minute; time.Sleep(700 * time.Millisecond) {
				var wait sync.WaitGroup
				for process := range f.all {
					wait.Go(func() {
						began := time.Now()
						if got := f.get(process, w); got != string(why) || time.Since(began) > token.Patience {
							t.Errorf("%q after %s", got, time.Since(began))
						}
					})
				}
				wait.Wait()
			}
			for n, at := range f.asked[1:] {
				if at-f.asked[n] < token.Pause {
					t.Errorf("asked at %s and at %s", f.asked[n], at)
				}
			}
			if len(f.asked) < 8 {
				t.Errorf("asked %d times in five minutes: nobody asks again", len(f.asked))
			}
		})
	}
}

// Other credentials are no repetition, and no token goes to another endpoint.
func TestKeeper_Token_belongsToItsCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, tokenFor(time.Hour, 0))
		first, second, other := f.wanted("webhook_1", "a"), f.wanted("webhook_1", "b"), f.wanted("webhook_2", "a")
		got := []string{f.get(0, first), f.get(1, first), f.get(0, second), f.get(1, second), f.get(0, other)}
		if want := []string{"t", "t", "tt", "tt", "ttt"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// A process that ends in the middle of its request holds up the others for a moment alone.
func TestKeeper_Token_outlivesAProcessThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, tokenFor(time.Hour, time.Second))
		w := f.wanted("webhook_1", "a")
		dies, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if _, why, err := f.all[0].Token(dies, w); why != delivery.ReasonTokenUnreachable || err != nil {
			t.Errorf("%q, %v", why, err)
		}
		if got := f.get(1, w); got != "token_unreachable" { // the claim stands longer than the patience
			t.Errorf("%q", got)
		}
		if got := f.get(1, w); got != "tt" {
			t.Errorf("%q after %s", got, time.Since(f.began))
		}
	})
}

// A process whose own time is about to end does not ask: it would keep the others from it.
func TestKeeper_Token_leavesTheQuestionToProcessesWithTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, tokenFor(time.Hour, time.Second))
		w := f.wanted("webhook_1", "a")
		dies, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, _, _ = f.all[0].Token(dies, w) // its claim ends after six seconds
		time.Sleep(time.Second)
		if got := f.get(1, w); got != "token_unreachable" || len(f.asked) != 1 {
			t.Errorf("%q, asked at %s", got, f.asked)
		}
		if got := f.get(2, w); got != "tt" {
			t.Errorf("%q after %s, asked at %s", got, time.Since(f.began), f.asked)
		}
	})
}

// A last look that ends with the process's time is the end of the wait, and no fault of Herald's.
func TestKeeper_Token_endsItsWaitWithoutAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, tokenFor(time.Hour, time.Hour))
		f.m.Judge = func(c *model.Call) model.Verdict {
			if late := time.Since(f.began) > token.Patience-time.Second; late && c.Name == "Keep tokens" {
				time.Sleep(300 * time.Millisecond)
			}
			return model.Done
		}
		w := f.wanted("webhook_1", "a")
		var wait sync.WaitGroup
		for process := range f.all {
			wait.Go(func() {
				if got := f.get(process, w); got != "token_unreachable" {
					t.Errorf("process %d: %q", process, got)
				}
			})
		}
		wait.Wait()
	})
}

// Where the store cannot be asked, the token server is not asked either. Where a result cannot be stored, the process
// that has it uses it.
func TestKeeper_Token_needsTheStoreToAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, tokenFor(time.Hour, 0))
		w := f.wanted("webhook_1", "a")
		f.m.On("Keep tokens", 1, model.Refused)
		if _, _, err := f.all[0].Token(t.Context(), w); err == nil || len(f.asked) > 0 {
			t.Errorf("asked %d times, %v", len(f.asked), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, tokenFor(time.Hour, 0))
		w := f.wanted("webhook_1", "a")
		calls := 0
		f.m.Judge = func(c *model.Call) model.Verdict {
			if c.Name == "Keep tokens" {
				calls++
			}
			if c.Name == "Keep tokens" && calls == 2 { // the result
				return model.Refused
			}
			return model.Done
		}
		if got := []string{f.get(0, w), f.get(0, w)}; !slices.Equal(got, []string{"t", "t"}) || len(f.asked) != 1 {
			t.Errorf("%q, asked %d times", got, len(f.asked))
		}
		time.Sleep(7 * time.Second)
		if got := f.get(1, w); got != "tt" {
			t.Errorf("%q in the other process", got)
		}
	})
}
