package tokens_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/tokens"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/testkit/model"
)

// A tenant may name somebody else's host in the token URLs of all endpoints that it may have there, and choose what its
// own receivers and the events do: as many deliveries as it likes, each answered 401. Whatever that host answers, it
// gets two requests a minute for each endpoint, from any number of processes. A change of an endpoint's credentials, or
// of its secret, costs one more: ApiKeyRequestsPerMinute is their bound.
//
// Threat of a tenant: has a token server flooded: tokens that expire at once, failures, 401s, many processes. Held by:
// all processes together ask once in 30 s for an endpoint, and once after a change of its secrets.
func TestPOSTsAtATokenHost_areTwoAMinuteForAnEndpoint(t *testing.T) {
	const endpoints, processes, minutes = 50, 200, 2
	for name, answer := range map[string]model.TokenAnswer{
		"expires at once":   {Access: token.Access{Token: "t", Life: token.Pause}},
		"lives for an hour": {Access: token.Access{Token: "t", Life: time.Hour}},
		"refuses":           {Reason: delivery.ReasonTokenRefused},
		"hangs":             {Reason: delivery.ReasonTokenUnreachable, Took: time.Hour},
		"takes its time":    {Access: token.Access{Token: "t", Life: token.Pause}, Took: 4900 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, processes, func(int) model.TokenAnswer { return answer })
			var wanted []tokens.Wanted
			for n := range endpoints {
				wanted = append(wanted, f.wanted(fmt.Sprint("webhook_", n), "a"))
			}
			var working sync.WaitGroup
			for n, process := range f.all {
				working.Go(func() {
					random := rand.New(rand.NewPCG(7, uint64(n)))
					for time.Since(f.began) < minutes*time.Minute {
						w := wanted[random.IntN(endpoints)]
						access, _, err := process.Token(t.Context(), w)
						if err != nil {
							t.Error(err)
						}
						time.Sleep(time.Second) // the POST, which is answered 401
						process.Refused(t.Context(), w.EndpointKey, access)
					}
				})
			}
			working.Wait()
			t.Logf("a token server that %s: %d requests a minute", name, len(f.asked)/minutes)
			if most := 2 * endpoints * (minutes + 1); len(f.asked) > most {
				t.Errorf("a token server that %s gets %d requests in %d minutes", name, len(f.asked), minutes)
			}
		})
	}
}
