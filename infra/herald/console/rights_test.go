package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestButtons_areGreyWhereTheCallerMayNotPressThem(t *testing.T) {
	f := &functions{denied: "control"}
	web, browser, _ := open(t, f)
	const page, off = "/endpoint?endpoint_id=webhook_1", `<button disabled aria-describedby="denied">Pause`
	body(t, get(t, browser, web.URL+page), off, `id="denied">`, "no right", `<button >Replay those`)
	form := url.Values{"endpoint_id": {"webhook_1"}}
	if resp := submit(t, browser, web.URL+"/control/pause", form); resp.StatusCode != http.StatusForbidden {
		t.Errorf("pressed all the same, it answers %s", resp.Status)
	}
	f.denied = ""
	if shown := body(t, get(t, browser, web.URL+page)); strings.Contains(shown, "disabled") {
		t.Error("a right that was granted goes unnoticed")
	}
}
