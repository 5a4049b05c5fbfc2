//go:build emulator && incident

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
)

// A form that is closed while Herald works has been sent: the secret is shown all the same, since there is no second
// time.
func TestTheSettingsPageShowsASecretEvenIfItsFormIsClosed(t *testing.T) {
	if errCheckout != nil {
		t.Fatal(errCheckout)
	}
	others, asked, closed := hostileHerald("user.created"), make(chan bool), make(chan bool)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/webhooks" {
			others.ServeHTTP(w, r)
			return
		}
		asked <- true
		<-closed
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":"webhook_01JB3ZKX9M4W0S5V7N2Q8R6TYA","signing_secret":"whsec_kept"}`)
	}))
	t.Cleanup(api.Close)
	p := openSettings(t, openBrowser(t, axeCore(t), t.TempDir()), client.New(statefile.State{
		APIURL: api.URL, AWSEndpointURL: api.URL, TenantID: "acme", Functions: map[string]string{"apikeys": "apikeys"},
	}))
	p.to(`[data-key=add]`)
	p.key("Enter", kb.Enter)
	p.at("URL")
	p.key("Enter", kb.Enter)
	<-asked
	p.key("Escape", kb.Escape)
	p.until(`document.querySelector("dialog") ? "" : "closed"`, "closed")
	close(closed)
	p.until(`document.querySelector("dialog")?.innerText ?? ""`, "whsec_kept")
	p.key("to the last button", kb.Tab)
	p.key("Enter", kb.Enter)
	p.hears("The endpoint was created.")
}
