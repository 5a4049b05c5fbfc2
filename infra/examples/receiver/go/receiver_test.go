package receiver_test

import (
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
	"github.com/herald-webhooks/herald/internal/rules/signature"
)

const (
	secret = "whsec_oYx2+Rk0fJm7Qe4LwT1bVn8sCz5uHd3gPa6iKq9rBtE="
	body   = `{"type":"user.created","data":{"userId":"user_1"}}`
)

// The package infra/kit/published tests the receivers of all languages with everything else.
func TestADeliveryThatCausedAPanicIsProcessedOnItsRetry(t *testing.T) {
	panics := true
	server := httptest.NewUnstartedServer(receiver.Handler([]string{"", secret}, func(string, []byte) error {
		if panics {
			panics = false
			panic("a bug")
		}
		return nil
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the panic
	server.Start()
	defer server.Close()
	var got []int
	for range 2 {
		r := httptest.NewRequest(http.MethodPost, server.URL, strings.NewReader(body))
		at := time.Now().Unix()
		r.RequestURI = ""
		r.Header.Set("wh-id", "msg_a")
		r.Header.Set("wh-timestamp", strconv.FormatInt(at, 10))
		r.Header.Set("wh-signature", signature.Sign(secret, "msg_a", at, []byte(body)))
		r.Header.Set("wh-webhook-event", "user.created")
		resp, err := server.Client().Do(r)
		if err != nil { // the panic ends the connection
			got = append(got, 0)
			continue
		}
		_ = resp.Body.Close()
		got = append(got, resp.StatusCode)
	}
	if diff := cmp.Diff([]int{0, 200}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// The README's three lines, with the library for Go.
func TestTheUsualConstructorOfTheLibraryVerifies(t *testing.T) {
	wh, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	header := http.Header{
		"Webhook-Id": {"msg_a"}, "Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)},
		"Webhook-Signature": {signature.SignDecoded(secret, "msg_a", at.Unix(), []byte(body))},
	}
	if err := wh.Verify([]byte(body), header); err != nil {
		t.Error(err)
	}
}
