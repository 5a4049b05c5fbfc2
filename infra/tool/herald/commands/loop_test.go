package commands

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

// svixAPI answers two pages of applications, the second with an endpoint on each of two pages.
func svixAPI() http.Handler {
	answers := map[string]string{
		"/api/v1/app?limit=250":                `{"data":[{"id":"app_1","uid":null}],"iterator":"i1","done":false}`,
		"/api/v1/app?limit=250&iterator=i1":    `{"data":[{"id":"app_2","uid":"acme"}],"iterator":"i2","done":true}`,
		"/api/v1/app/app_1/endpoint?limit=250": `{"data":[],"iterator":null,"done":true}`,
		"/api/v1/app/app_2/endpoint?limit=250": `{"data":[{"id":"ep_1","url":"https://a.example.com/1","metadata":{},
			"description":""}],"iterator":"i3","done":false}`,
		"/api/v1/app/app_2/endpoint?limit=250&iterator=i3": `{"data":[{"id":"ep_2","url":"https://a.example.com/2"}],
			"iterator":"i4","done":true}`,
		"/api/v1/app/app_2/endpoint/ep_1/secret":  `{"key":"` + secretOf(1) + `"}`,
		"/api/v1/app/app_2/endpoint/ep_2/secret":  `{"key":"` + secretOf(2) + `"}`,
		"/api/v1/app/app_2/endpoint/ep_1/headers": `{"headers":{"X-Env":"prod"},"sensitive":["Authorization"]}`,
		"/api/v1/app/app_2/endpoint/ep_2/headers": `{"headers":{},"sensitive":[]}`,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.URL.String()]
		if answer == "" || r.Header.Get("Authorization") != "Bearer testsk" {
			http.Error(w, `{"code":"not_found"}`, http.StatusNotFound)
			return
		}
		fmt.Fprint(w, answer)
	})
}

// The loop of the page fetches all pages, and its file is converted.
func TestConvert_takesWhatTheLoopOfThePageFetches(t *testing.T) {
	page, err := os.ReadFile("../../../docs/moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	loop := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)
	if loop == nil {
		t.Fatal("the page has no loop")
	}
	t.Chdir(t.TempDir())
	server := httptest.NewServer(svixAPI())
	defer server.Close()
	command := exec.CommandContext(t.Context(), python, "-c", string(loop[1]))
	command.Env = append(os.Environ(), "SVIX_URL="+server.URL, "SVIX_TOKEN=testsk")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat("svix.jsonl")
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	new(fake).ends(t, exit.Done, "endpoints convert --from svix svix.jsonl", "2 converted", "headers.Authorization")
	lines, err := os.ReadFile("endpoints.jsonl")
	for _, want := range []string{secretOf(1), secretOf(2), `"tenant_id":"acme"`, `{"X-Env":"prod"}`} {
		if err != nil || !strings.Contains(string(lines), want) {
			t.Errorf("want %s: %s, %v", want, lines, err)
		}
	}
}
