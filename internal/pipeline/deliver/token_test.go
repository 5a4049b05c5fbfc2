package deliver

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

// tokenServer answers each request with another token, and counts them.
func (w *rig) tokenServer(answer func(n int) model.TokenAnswer) (asked *int) {
	asked = new(int)
	w.aws.TokenServer = func(g token.Grant) model.TokenAnswer {
		*asked++
		return answer(*asked)
	}
	w.change("webhook_1", func(e *endpoint.Endpoint) {
		e.OAuth = &endpoint.OAuth{TokenURL: "https://id.example/token", ClientID: "herald"}
		e.OAuthVersion, e.SealedOAuth = 1, []byte("hidden")
	})
	return asked
}

func given(life time.Duration) func(n int) model.TokenAnswer {
	return func(n int) model.TokenAnswer {
		return model.TokenAnswer{Access: token.Access{Token: strings.Repeat("t", n), Life: life}}
	}
}

// after answers 204 after so long.
func after(d time.Duration) func(context.Context, string) delivery.Response {
	return func(ctx context.Context, url string) delivery.Response {
		time.Sleep(d)
		return status(204)(ctx, url)
	}
}

func refused(why delivery.Reason, took time.Duration) func(int) model.TokenAnswer {
	return func(int) model.TokenAnswer { return model.TokenAnswer{Reason: why, Took: took} }
}

// bearers are the tokens of the POSTs to the first endpoint.
func (w *rig) bearers() (all []string) {
	for _, p := range w.posts {
		for _, f := range p.Header {
			if f.Name == "Authorization" {
				all = append(all, f.Value)
			}
		}
	}
	return all
}

// A batch asks for a token once, and so do all processes for as long as it lives.
//
// Threat of a tenant: finds a token in a log. Held by: lines name hosts alone.
func TestHandler_Process_sendsATokenThatAllProcessesShare(t *testing.T) {
	in(t, status(204), func(w *rig) {
		asked := w.tokenServer(given(time.Minute))
		first, second := w.handler(), w.handler()
		w.processBy(first, w.fresh("e1", "webhook_1"), w.fresh("e2", "webhook_1"), w.fresh("e3", "webhook_2"))
		w.processBy(second, w.fresh("e4", "webhook_1"))
		time.Sleep(59 * time.Second)
		w.processBy(first, w.fresh("e5", "webhook_1"))
		time.Sleep(time.Second)
		w.processBy(second, w.fresh("e6", "webhook_1"))
		w.processBy(first, w.fresh("e7", "webhook_1"))
		want := []string{"Bearer t", "Bearer t", "Bearer t", "Bearer t", "Bearer tt", "Bearer tt"}
		if got := w.bearers(); !slices.Equal(got, want) || *asked != 2 || len(w.posts) != 7 {
			w.Errorf("%d POSTs, sent %q after %d requests for tokens", len(w.posts), got, *asked)
		}
		if w.logged("hidden") || w.logged("Bearer") {
			w.Errorf("a log has a secret: %q", w.logs)
		}
	})
}

// Without a token there is no POST. The attempt has failed: it uses a place, counts for the circuit, and says why.
func TestHandler_Process_failsWithoutAToken(t *testing.T) {
	for _, why := range []delivery.Reason{delivery.ReasonTokenRefused, delivery.ReasonTokenUnreachable} {
		in(t, status(204), func(w *rig) {
			asked := w.tokenServer(refused(why, 300*time.Millisecond))
			w.process(w.fresh("e1", "webhook_1"), w.fresh("e2", "webhook_1"), w.fresh("e3", "webhook_2"))
			if len(w.posts) != 1 || len(w.sent["Retry"]) != 2 || w.sent["Retry"][0].Attempts != 1 || *asked != 1 {
				w.Errorf("%s: %d POSTs, %d requests, sent on %+v", why, len(w.posts), *asked, w.sent)
			}
			c := w.aws.Circuits["webhook_1"]
			if c.State != circuit.Failing || c.Failures != 2 || c.Last.Reason != string(why) {
				w.Errorf("%s: the circuit is %+v", why, c)
			}
			if !w.logged("level=WARN", "reason="+string(why), "fault=receiver", "host=id.example") {
				w.Errorf("%s: logged %q", why, w.logs)
			}
			// Nothing is asked again for half a minute, by any process.
			time.Sleep(29 * time.Second)
			w.process(w.fresh("e4", "webhook_1"))
			if *asked != 1 {
				w.Errorf("%s: asked %d times within %s", why, *asked, token.Pause)
			}
			time.Sleep(time.Second)
			if w.process(w.fresh("e5", "webhook_1")); *asked != 2 {
				w.Errorf("%s: asked %d times", why, *asked)
			}
		})
	}
}

// A 401 ends a token: the next attempt gets another one. It ends none that has just come, and none but the one it was
// about. An attempt has one POST at most.
func TestHandler_Process_forgetsATokenThatIsRefused(t *testing.T) {
	in(t, status(401), func(w *rig) {
		asked := w.tokenServer(given(time.Hour))
		h := w.handler()
		w.processBy(h, w.fresh("e1", "webhook_1"))
		w.processBy(h, w.fresh("e2", "webhook_1"), w.fresh("e3", "webhook_1"))
		if *asked != 1 || len(w.posts) != 3 {
			w.Errorf("asked %d times, for %d POSTs at once", *asked, len(w.posts))
		}
		time.Sleep(token.Pause)
		w.processBy(h, w.fresh("e4", "webhook_1"))                // it ends the token
		w.processBy(w.handler(), w.retried("e4", "webhook_1", 1)) // for others, too
		h.Tokens.Refused(w.Context(), dynamo.EndpointKey{TenantID: "acme", EndpointID: "webhook_1"}, "t")
		w.processBy(h, w.retried("e4", "webhook_1", 2))
		want := []string{"Bearer t", "Bearer t", "Bearer t", "Bearer t", "Bearer tt", "Bearer tt"}
		if got := w.bearers(); !slices.Equal(got, want) || *asked != 2 {
			w.Errorf("asked %d times, sent %q", *asked, got)
		}
		if c := w.aws.Circuits["webhook_1"]; c.Last.Reason != "http_4xx" || c.Last.Status != 401 {
			w.Errorf("the circuit says %+v", c.Last)
		}
	})
}

// Token and POST share the time of an attempt, of which the token has five seconds at most. The tenant pays for both.
func TestHandler_Process_sharesTheTimeOfAnAttempt(t *testing.T) {
	for _, row := range []struct {
		took   time.Duration
		post   func(context.Context, string) delivery.Response
		ends   time.Duration
		posts  int
		reason string
	}{
		{4900 * time.Millisecond, status(204), 4900 * time.Millisecond, 1, ""},
		{time.Hour, status(204), 5 * time.Second, 0, "token_unreachable"},
		{2900 * time.Millisecond, hangs, 15 * time.Second, 1, "timeout"},
	} {
		var charged time.Duration // for a POST of the same time
		in(t, after(row.ends), func(w *rig) {
			began := time.Now()
			w.process(w.fresh("e1", "webhook_1"))
			charged = w.slowUntil().Sub(began)
		})
		in(t, row.post, func(w *rig) {
			w.tokenServer(func(int) model.TokenAnswer {
				return model.TokenAnswer{Access: token.Access{Token: "t", Life: time.Minute}, Took: row.took}
			})
			began := time.Now()
			w.process(w.fresh("e1", "webhook_1"))
			if took := time.Since(began); took != row.ends || len(w.posts) != row.posts {
				w.Errorf("a token after %s: %d POSTs, ended after %s", row.took, len(w.posts), took)
			}
			if got := w.slowUntil().Sub(began); got != charged || charged <= 0 {
				w.Errorf("a token after %s: charged until %s, want %s", row.took, got, charged)
			}
			if row.reason != "" && !w.logged("reason="+row.reason) {
				w.Errorf("a token after %s: %q", row.took, w.logs)
			}
		})
	}
}

func tokensFrom(url string) func(e *endpoint.Endpoint) {
	return func(e *endpoint.Endpoint) { e.OAuth.TokenURL = url }
}

// Whatever a writer of the table does to a row, a client secret goes to the server that it was set for, a token to the
// receiver, and the delivery waits where the secret does not open: it is an incident, and no fault of the receiver's.
//
// Threat of a tenant: has a token or a client secret sent elsewhere, by a changed row. Held by: the seal is bound to
// both origins.
func TestHandler_Process_sendsNothingWithoutTheOwnersCredentials(t *testing.T) {
	for name, row := range map[string]struct {
		change func(e *endpoint.Endpoint)
		sent   bool
	}{
		"as it was":                        {func(*endpoint.Endpoint) {}, true},
		"another path":                     {func(e *endpoint.Endpoint) { e.URL += "/x" }, true},
		"another path of the token server": {tokensFrom("https://id.example/other?x=y"), true},
		"another token server":             {tokensFrom("https://thief.example/"), false},
		"another port of the token server": {tokensFrom("https://id.example:8443/"), false},
		"no TLS":                           {tokensFrom("http://id.example/"), false},
		"another receiver":                 {func(e *endpoint.Endpoint) { e.URL = "https://thief.example/" }, false},
		"another version":                  {func(e *endpoint.Endpoint) { e.OAuthVersion++ }, false},
		"no secret":                        {func(e *endpoint.Endpoint) { e.SealedOAuth = nil }, false},
		"nothing but the secret":           {func(e *endpoint.Endpoint) { e.OAuth = nil }, false},
		"the signing secret in its place":  {func(e *endpoint.Endpoint) { e.SealedOAuth = e.SealedSecret }, false},
	} {
		in(t, status(204), func(w *rig) {
			w.tokenServer(given(time.Minute))
			w.change("webhook_1", func(e *endpoint.Endpoint) {
				w.seals(e)
				e.SealedHeaders, e.HeaderNames = nil, nil
				sealed, err := sealing.Secrets().Seal(w.Context(), keyring.ClientSecretOf(*e), "hidden")
				if err != nil {
					w.Fatal(err)
				}
				e.SealedOAuth = sealed
				oauth := *e.OAuth
				e.OAuth = &oauth
				row.change(e)
			})
			h := w.handler()
			h.Secrets = sealing.Secrets()
			w.processBy(h, w.fresh("e1", "webhook_1"))
			incident := w.logged("level=ERROR", "fault=internal", "reason=unopenable")
			if sent := len(w.posts) == 1; sent != row.sent || incident == row.sent {
				w.Errorf("%s: %d POSTs, reported as an incident %v: %q", name, len(w.posts), incident, w.logs)
			}
		})
	}
}

// Where AWS fails, or the batch runs out of time, nobody but Herald is to blame.
func TestHandler_Process_blamesNobodyForItsOwnFaultsWithTokens(t *testing.T) {
	in(t, status(204), func(w *rig) {
		asked := w.tokenServer(given(time.Minute))
		w.refuses("Keep tokens")
		w.process(w.fresh("e1", "webhook_1"))
		if *asked != 0 || len(w.posts) != 0 || !w.logged("reason=internal", "fault=internal") {
			w.Errorf("asked %d times, %d POSTs: %q", *asked, len(w.posts), w.logs)
		}
	})
	in(t, status(204), func(w *rig) {
		asked := w.tokenServer(refused("", time.Hour))
		ctx, cancel := context.WithTimeout(w.Context(), 4*time.Second)
		defer cancel()
		w.handler().Process(ctx, []events.SQSMessage{w.fresh("e1", "webhook_1")})
		if !w.logged("reason=out_of_time", "fault=internal") {
			w.Errorf("%q", w.logs)
		}
		time.Sleep(7 * time.Second) // the claim is over
		if w.process(w.fresh("e2", "webhook_1")); *asked != 2 {
			w.Errorf("asked %d times: what was cut short was remembered", *asked)
		}
	})
}
