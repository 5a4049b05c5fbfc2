package receiver_test

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	receiver "github.com/herald-webhooks/herald/infra/examples/receiver/go"
	"github.com/herald-webhooks/herald/internal/signature"
)

const (
	secret = "whs_oYx2-Rk0fJm7Qe4LwT1bVn8sCz5uHd3gPa6iKq9rBtE"
	body   = `{"type":"user.created","data":{"userId":"user_1"}}`
)

// signed is a delivery signed by the Standard Webhooks library.
func signed(t *testing.T, id string, at time.Time) *http.Request {
	t.Helper()
	wh, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := wh.Sign(id, at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("wh-id", id)
	r.Header.Set("wh-timestamp", strconv.FormatInt(at.Unix(), 10))
	r.Header.Set("wh-signature", signature)
	r.Header.Set("wh-webhook-event", "user.created")
	return r
}

func answer(h http.Handler, r *http.Request) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func TestOnlyGenuineDeliveriesAreProcessed(t *testing.T) {
	now := time.Now()
	set := func(header, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(header, value) }
	}
	fresh := strconv.FormatInt(now.Unix(), 10)
	tests := map[string]struct {
		at     time.Time
		change func(*http.Request)
		want   int
	}{
		"a genuine delivery is taken":            {at: now, want: 200},
		"four minutes late is in time":           {at: now.Add(-4 * time.Minute), want: 200},
		"a delivery older than the window":       {at: now.Add(-5*time.Minute - 2*time.Second), want: 400},
		"a delivery from the future":             {at: now.Add(5*time.Minute + 5*time.Second), want: 400},
		"another id":                             {at: now, change: set("wh-id", "msg_b"), want: 400},
		"a timestamp made fresh without the key": {at: now.Add(-time.Hour), change: set("wh-timestamp", fresh), want: 400},
		"another type in the unsigned header":    {at: now, change: set("wh-webhook-event", "user.deleted"), want: 400},
		"no type in the header": {at: now, want: 400, change: func(r *http.Request) {
			r.Header.Del("wh-webhook-event")
		}},
		"no signature": {at: now, want: 400, change: func(r *http.Request) {
			r.Header.Del("wh-signature")
		}},
		"no headers at all": {at: now, want: 400, change: func(r *http.Request) {
			clear(r.Header)
		}},
		"the signature without its version": {at: now, want: 400, change: func(r *http.Request) {
			r.Header.Set("wh-signature", r.Header.Get("wh-signature")[3:])
		}},
		"a body that was stripped": {at: now, want: 400, change: func(r *http.Request) {
			r.Body = http.NoBody
		}},
		"a body larger than any delivery can be": {at: now, change: func(r *http.Request) { *r = *big(r) }, want: 400},
		"a timestamp that is not a number":       {at: now, change: set("wh-timestamp", "soon"), want: 400},
		"a timestamp too large for any calendar": {at: now, change: set("wh-timestamp", "9223372036854775807"), want: 400},
		"a timestamp with a sign in front of it": {at: now, change: set("wh-timestamp", "+"+fresh), want: 400},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			processed := 0
			h := receiver.Handler([]string{"", secret}, func(_ string, got []byte) error {
				processed++
				if string(got) != body {
					t.Errorf("processed %q", got)
				}
				return nil
			})
			r := signed(t, "msg_a", test.at)
			if test.change != nil {
				test.change(r)
			}
			if got := answer(h, r); got != test.want {
				t.Errorf("answered %d, want %d", got, test.want)
			}
			if (processed == 1) != (test.want == 200) {
				t.Errorf("processed %d times", processed)
			}
		})
	}
}

func big(r *http.Request) *http.Request {
	b := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat(" ", 1<<20+1)))
	b.Header = r.Header
	return b
}

func TestADuplicateIsAcknowledgedAndNotProcessedAgain(t *testing.T) {
	processed := 0
	h := receiver.Handler([]string{"", secret}, func(string, []byte) error { processed++; return nil })
	for attempt := range 3 {
		if got := answer(h, signed(t, "msg_a", time.Now().Add(time.Duration(attempt)*time.Second))); got != 200 {
			t.Errorf("attempt %d answered %d", attempt, got)
		}
	}
	if processed != 1 {
		t.Errorf("processed %d times", processed)
	}
}

func TestAFailedDeliveryIsProcessedAgainOnItsRetry(t *testing.T) {
	faults := []func() error{
		func() error { return errors.New("database away") },
		func() error { panic("a bug") },
		func() error { return nil },
	}
	server := httptest.NewUnstartedServer(receiver.Handler([]string{"", secret}, func(string, []byte) error {
		fault := faults[0]
		faults = faults[1:]
		return fault()
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the panic
	server.Start()
	defer server.Close()
	var got []int
	for range 4 {
		r := signed(t, "msg_a", time.Now())
		r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", server.Listener.Addr().String()
		resp, err := server.Client().Do(r)
		if err != nil { // the panic ends the connection
			got = append(got, 0)
			continue
		}
		_ = resp.Body.Close()
		got = append(got, resp.StatusCode)
	}
	if diff := cmp.Diff([]int{500, 0, 200, 200}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestARetryThatComesWhileTheFirstIsAtWorkGets409(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	h := receiver.Handler([]string{"", secret}, func(string, []byte) error {
		close(begun) // a second time would panic
		<-end
		return nil
	})
	first := make(chan int)
	go func(r *http.Request) { first <- answer(h, r) }(signed(t, "msg_a", time.Now()))
	<-begun
	w := httptest.NewRecorder()
	h.ServeHTTP(w, signed(t, "msg_a", time.Now()))
	close(end)
	got := []int{w.Code, <-first, answer(h, signed(t, "msg_a", time.Now()))}
	if diff := cmp.Diff([]int{409, 200, 200}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

// What infra/docs/receivers.md says of the Standard Webhooks library for Go.
func TestSecretsAreOnlyForTheRawConstructor(t *testing.T) {
	if _, err := standardwebhooks.NewWebhook(secret); err == nil {
		t.Error("the constructor for Base64 takes a secret of Herald's")
	}
	wh, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	header := http.Header{
		"Webhook-Id": {"msg_a"}, "Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)},
		"Webhook-Signature": {signature.Sign(secret, "msg_a", at.Unix(), []byte(body))},
	}
	if err := wh.Verify([]byte(body), header); err != nil {
		t.Error(err)
	}
}
