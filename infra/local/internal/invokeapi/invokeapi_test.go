package invokeapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/herald-webhooks/herald/infra/local/internal/invokeapi"
)

// A web page in a developer's browser reaches loopback: by its address, or by the page's name if that resolves to it.
//
// Threat of a page: another page of the browser asks the local stack or console. Held by: it answers its own pages, by
// an address that is new with each start.
func TestAPI_Handler_answersProgramsOfThisMachineOnly(t *testing.T) {
	emulator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	defer emulator.Close()
	address, err := url.Parse(emulator.URL)
	if err != nil {
		t.Fatal(err)
	}
	handler := (&invokeapi.API{Emulator: address}).Handler()
	for _, row := range []struct {
		host, header, value string
		answered            bool
	}{
		{"127.0.0.1:4566", "", "", true},
		{"localhost:4566", "", "", true},
		{"localhost", "", "", true},
		{"[::1]:4566", "", "", true},
		{"[::1]", "", "", true},
		{"127.0.0.1:4566", "Sec-Fetch-Site", "none", true},
		{"evil.example:4566", "", "", false},
		{"127.0.0.1.evil.example", "", "", false},
		{"localhost.evil.example", "", "", false},
		{"192.0.2.1:4566", "", "", false},
		{"", "", "", false},
		{"127.0.0.1:4566", "Origin", "https://evil.example", false},
		{"127.0.0.1:4566", "Origin", "null", false},
		{"127.0.0.1:4566", "Sec-Fetch-Site", "cross-site", false}, // as for an image, without Origin
	} {
		for _, target := range []string{"/?Action=ListQueues", "/2015-03-31/functions/none/invocations"} {
			r := httptest.NewRequest(http.MethodPost, target, nil)
			r.Host = row.host
			if row.header != "" {
				r.Header.Set(row.header, row.value)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if answered := w.Code != http.StatusForbidden; answered != row.answered {
				t.Errorf("POST %s to %q with %s %q: %d", target, row.host, row.header, row.value, w.Code)
			}
		}
	}
}
