package commands

import (
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/webhooks"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// secretOf is a made-up secret of an endpoint, as Svix makes them.
func secretOf(n int) string {
	key := sha256.Sum256(fmt.Append(nil, "an endpoint's key ", n))
	return "whsec_" + base64.StdEncoding.EncodeToString(key[:24])
}

// svixAccount is a made-up account of 60 endpoints, as the loop of the page fetches it.
func svixAccount() string {
	special := map[int]string{
		23: `"url":"http://r23.example/in"`, 24: `"url":"https://r24.example:8443/in"`,
		25: `"url":"https://gateway.example.com/5"`, 26: `"secret":null`,
		27: `"secret":{"key":"whsk_` + strings.Repeat("AP+A", 21) + `AA=="}`, // Ed25519
		28: `"headers":{"headers":{"X-Env":"prod"},"sensitive":["Authorization"]}`,
		29: `"headers":{"headers":{"X-Env":"prod"},"sensitive":[]}`,
		30: `"headers":{"headers":{"svix-env":"prod"},"sensitive":["Authorization"]}`,
		31: `"channels":["project_1"]`, 32: `"metadata":{"plan":"gold"}`, 33: `"throttleRate":25`, 34: `"uid":"crm"`,
		35: `"disabled":true`, 36: `"eventTypes":["user.created","invoice.paid"]`,
		37: `"eventTypes":["user.signup","user.created"]`,
		38: `"filterTypes":null`, 39: `"channels":["project_1","project_2"],"metadata":{"plan":"gold"},"throttleRate":5`,
		40: `"description":"crm \u202e of acme"`, 41: `"shiny":{"new":true}`, 59: `"tenant_id":"initech eu"`,
	}
	var b strings.Builder
	for n := range 60 {
		url := fmt.Sprintf("https://r%d.example/in", n)
		if n <= 22 {
			url = fmt.Sprintf("https://gateway.example.com/%d", n)
		}
		fields := []string{
			fmt.Sprintf(`"id":"ep_%027d"`, n), `"url":"` + url + `"`, `"description":""`, `"version":1`,
			`"metadata":{}`, `"disabled":false`, `"eventTypes":["user.created","organization.updated"]`, `"channels":null`,
			`"createdAt":"2024-08-24T14:15:22Z"`, `"tenant_id":"acme"`, `"secret":{"key":"` + secretOf(n) + `"}`,
		}
		name, _, _ := strings.Cut(special[n], ":")
		object := "{"
		for _, f := range fields {
			if name != "" && strings.HasPrefix(f, name+":") || n == 39 && strings.HasPrefix(f, `"metadata"`) ||
				n == 38 && strings.HasPrefix(f, `"eventTypes"`) {
				continue
			}
			object += f + ","
		}
		if special[n] == "" {
			object = strings.TrimSuffix(object, ",")
		}
		b.WriteString(object + special[n] + "}\n")
	}
	return b.String()
}

// function is the function webhooks on the model, and the endpoints that it has.
func function() (*webhooks.Handler, *model.Model) {
	m := model.New()
	p, policy := m.Process("webhooks"), egress.Policy{}
	return &webhooks.Handler{
		Endpoints: p.Endpoints(), Secrets: sealing.Secrets(), Audit: p.Audit(),
		Now: time.Now, Random: rand.Float64, Bounds: endpoint.Bounds{Live: endpoint.MaxLive, AtSite: 20},
		URLs: endpoint.URLPolicy{Addr: policy.Addr, Port: policy.Port}, Log: slog.New(slog.DiscardHandler),
	}, m
}

// An operator's morning: convert, dry run, import. The golden file has the report.
func TestConvert_movesAnAccountOf60Endpoints(t *testing.T) {
	golden, err := filepath.Abs("testdata/svix60.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("svix.jsonl", []byte(svixAccount()), 0o600); err != nil {
		t.Fatal(err)
	}
	handler, m := function()
	f := &fake{handlers: map[string]*webhooks.Handler{"webhooks": handler}}
	report := f.ends(t, exit.Unhealthy, "endpoints convert --from svix svix.jsonl", "50 converted, 10 left out")
	f.ends(t, exit.Done, "endpoints import endpoints.jsonl --dry-run", "50 to create, 0 exist")
	f.ends(t, exit.Done, "-y endpoints import endpoints.jsonl", "50 of 50 created")
	for n := range 60 {
		if strings.Contains(report, secretOf(n)) {
			t.Errorf("the secret of object %d is shown", n+1)
		}
	}
	disabled := 0
	for _, e := range m.Endpoints {
		if e.Status == endpoint.Disabled {
			disabled++
		}
	}
	if len(m.Endpoints) != 50 || disabled != 1 {
		t.Errorf("%d endpoints, %d disabled", len(m.Endpoints), disabled)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(report), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// Threat of another sender: has secrets shown or written where others read. Held by: reports have no values; the file
// is new and its owner's alone.
func TestConvert_writesANewFileForItsOwnerAlone(t *testing.T) {
	one := `{"tenant_id":"acme","url":"https://a.example.com/hidden","secret":"` + secretOf(1) + `"}`
	t.Chdir(t.TempDir())
	if err := os.WriteFile("shared.txt", []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link.jsonl": "shared.txt", "dangling.jsonl": "nowhere.txt"} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		to   string
		code int
		says string
	}{
		{"shared.txt", exit.Usage, "shared.txt exists"},
		{"link.jsonl", exit.Usage, "link.jsonl exists"},
		{"dangling.jsonl", exit.Usage, "dangling.jsonl exists"},
		{"no/such/folder", exit.Usage, "writing no/such/folder"},
		{"new.jsonl", exit.Done, "written to new.jsonl, which only you can read"},
		{"new.jsonl", exit.Usage, "new.jsonl exists"},
	} {
		f := &fake{}
		code, out, words := f.play(t, one, "endpoints", "convert", "--from", "standard", "--to", c.to, "-")
		if code != c.code || !strings.Contains(words, c.says) || strings.Contains(out+words, "hidden") || f.sought {
			t.Errorf("--to %s: exit code %d, want %d that says %s: %s%s", c.to, code, c.code, c.says, out, words)
		}
	}
	if kept, err := os.ReadFile("shared.txt"); err != nil || string(kept) != "before" {
		t.Errorf("shared.txt is %q, %v", kept, err)
	}
	if _, err := os.Stat("nowhere.txt"); err == nil {
		t.Error("wrote through a link")
	}
	info, err := os.Stat("new.jsonl")
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestConvert_saysWhatIsWrong(t *testing.T) {
	t.Chdir(t.TempDir())
	endless := strings.Repeat(" ", 64<<20) + "1"
	for _, c := range []struct {
		line, input string
		code        int
		says        string
	}{
		{"endpoints convert -", "{}", exit.Usage, "--from is required: svix, convoy, outpost or standard"},
		{"endpoints convert --from svx -", "{}", exit.Usage, "no such from: did you mean svix?"},
		{"endpoints convert --from svix", "{}", exit.Usage, "give one argument, FILE"},
		{"endpoints convert --from svix no.json", "", exit.Usage, "reading no.json"},
		{"endpoints convert --from svix --ports web -", "{}", exit.Usage, "entry 1 is not a port or a range of ports"},
		{"endpoints convert --from svix --per-host 201 -", "{}", exit.Usage, "--per-host: must be 1 to 200"},
		{"endpoints convert --from svix -", "hidden", exit.Usage, "no JSON at byte 0, in line 1"},
		{"endpoints convert --from svix -", "", exit.Failed, "- has no endpoints in it"},
		{"endpoints convert --from svix -", `{"data":[],"done":true}`, exit.Failed, "- has no endpoints in it"},
		{"endpoints convert --from svix -", endless, exit.Usage, "-: longer than 64 MiB"},
		{"endpoints convert --from svix -", `{"code":"hidden"}`, exit.Failed, "nothing could be converted"},
		{"endpoints convert --from convoy --tenant owner_id -", `{"owner_id":"a"}`, exit.Usage, "--tenant-field owner_id"},
		{"endpoints convert --from svix --tenant a/b -", "{}", exit.Usage, "--tenant must be 1 to 128 of A-Z a-z 0-9 _ - ."},
		{"endpoints convert --from svix --tenant .. -", "{}", exit.Usage, "--tenant must be 1 to 128 of A-Z a-z 0-9 _ - ."},
		{"endpoints convert --from svix --tenant ..a -", "{}", exit.Failed, "nothing could be converted"},
		{"endpoints convert --from svix --tenant-field .. -", "{}", exit.Failed, "nothing could be converted"},
		{"endpoints convert --from svix --tenant a --tenant-field b -", "{}", exit.Usage, "give one of them"},
		{"events convert -", `["signup"]`, exit.Failed, "nothing could be converted"},
	} {
		code, out, words := new(fake).play(t, c.input, strings.Fields(c.line)...)
		if code != c.code || !strings.Contains(words, c.says) || strings.Contains(out+words, "hidden") {
			t.Errorf("herald %s: exit code %d, want %d that says %q:\n%s%s", c.line, code, c.code, c.says, out, words)
		}
	}
	left, err := os.ReadDir(".")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind %v, %v", left, err)
	}
}

// Threat of another sender: steers the terminal, or puts YAML into the catalogue. Held by: texts are escaped.
func TestConvert_steersNoTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	input := `{"id":"\u001b[2J\u202e","url":"https://\u001b[31m.example.com","tenant_id":"\u001b]0;x\u0007",
		"eventTypes":["\u001b[1m"],"\u001b[3m":1,"headers":{"\u001b[4m":"x"},"description":"\u001b[5m"}
		{"url":"https://a.example.com","tenant_id":"acme","secret":"` + secretOf(1) + `","\u001b[6m":1,
		"eventTypes":["user.created","\u001b[7m"],"headers":{"\u001b[8m":"x"}}`
	for _, output := range []string{"table", "json"} {
		line := strings.Fields("-o " + output + " endpoints convert --from svix --to " + output + ".jsonl -")
		code, out, words := new(fake).play(t, input, line...)
		if code != exit.Unhealthy || strings.ContainsAny(out+words, "\u001b\u0007\u202e") {
			t.Errorf("exit code %d: %q %q", code, out, words)
		}
	}
}

func TestConvert_reportsAsJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	input := `{"data":[{"url":"https://a.example.com","uid":"\u001b[2J","secret":"` + secretOf(1) + `"}],"done":false}`
	line := strings.Fields("-o json endpoints convert --from svix --tenant acme -")
	code, out, words := new(fake).play(t, input, line...)
	if code != exit.Unhealthy || !strings.Contains(words, "the last page says that there are more") {
		t.Errorf("exit code %d: %s", code, words)
	}
	contains(t, out, `"converted": 1`, `"host": "a.example.com"`, `"field": "uid"`, `"more": true`)
}

func TestConvert_takesTenantsFromAFile(t *testing.T) {
	one := `{"tenant_id":"app 1","url":"https://a.example.com/hidden","secret":"` + secretOf(1) + `"}`
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"svix.jsonl": one, "tenants.csv": "app 1,acme.com\n", "bad.csv": "app 1,acme com\napp 2\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const line = "endpoints convert --from svix svix.jsonl"
	(&fake{}).ends(t, exit.Failed, line, "see --tenant-map")
	(&fake{}).ends(t, exit.Done, line+" --tenant-map tenants.csv", "1 converted, 0 left out")
	made, err := os.ReadFile("endpoints.jsonl")
	if err != nil || !strings.Contains(string(made), `"tenant_id":"acme.com"`) {
		t.Errorf("%s, %v", made, err)
	}
	misuse(t, line+" --tenant-map bad.csv",
		"bad.csv: line 1: the tenant_id must be 1 to 128 of A-Z", "line 2: has 1 fields")
	misuse(t, line+" --tenant-map tenants.csv --tenant acme", "give one of them")
	misuse(t, "endpoints convert --from svix - --tenant-map -", "standard input has the endpoints")
}
