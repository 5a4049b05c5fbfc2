package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestButtons_areGreyWhereTheCallerMayNotPressThem(t *testing.T) {
	f := &functions{denied: "control"}
	web, browser, s := open(t, f)
	clock := time.Now()
	s.Now = func() time.Time { return clock }
	const page, off = "/endpoint?endpoint_id=webhook_1", `<button disabled aria-describedby="denied">Pause`
	shown := body(t, get(t, browser, web.URL+page))
	for _, says := range []string{off, `id="denied">`, "no right", `<button >Replay those`} {
		if !strings.Contains(shown, says) {
			t.Errorf("does not show %q:\n%s", says, shown)
		}
	}
	f.denied, f.asked = "", nil
	shown = body(t, get(t, browser, web.URL+page))
	if !strings.Contains(shown, off) || slices.Contains(f.asked, "may control") {
		t.Errorf("asked %v at once", f.asked)
	}
	clock = clock.Add(knownFor)
	if shown := body(t, get(t, browser, web.URL+page)); strings.Contains(shown, off) {
		t.Error("a right that was granted goes unnoticed")
	}
}

func TestButtons_turnGreyWhenOneIsRefused(t *testing.T) {
	f := &functions{}
	web, browser, _ := open(t, f)
	const page = "/letter?delivery_id=msg_1"
	if shown := body(t, get(t, browser, web.URL+page)); strings.Contains(shown, "disabled") {
		t.Errorf("grey for no reason:\n%s", shown)
	}
	f.denied = "replay"
	resp := submit(t, browser, web.URL+"/replay", url.Values{"delivery_id": {"msg_1"}})
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("answers %s", resp.Status)
	}
	if shown := body(t, get(t, browser, web.URL+page)); !strings.Contains(shown, "disabled") {
		t.Errorf("the button stays on:\n%s", shown)
	}
}
