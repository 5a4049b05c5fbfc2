//go:build emulator

package e2e

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// judged is a delivery as a library is given it, and the judgement that is right.
type judged struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    []byte            `json:"body"` // Base64 in JSON
	At      int64             `json:"at"`   // its arrival, in seconds: the libraries refuse what is five minutes old
	genuine bool
	strict  []string // languages whose libraries refuse the secret
}

// accepted reports whether the libraries of a language verify the delivery.
func (j judged) accepted(language string) bool {
	return j.genuine && !slices.Contains(j.strict, language)
}

// The verifiers in infra/clients/libraries, and the libraries that each has. They read cases and print verdicts.
// `make libraries` names the ones that need more registries than those of make test.
var verifiers = map[string][]string{
	"node":   {"standardwebhooks", "svix", "svix 1"},
	"python": {"standardwebhooks", "svix"},
	"java":   {"standardwebhooks", "svix"},
	"rust":   {"standardwebhooks"},
}

// TestStockLibrariesVerify gives deliveries of the local stack to the libraries that receivers use, unchanged: each by
// its usual constructor, with the secret as the API showed it.
func TestStockLibrariesVerify(t *testing.T) {
	t.Parallel()
	cases := deliveredCases(t)
	text, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("go", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { verdictsOfGo(t, cases) }) })
	for _, language := range append([]string{"node", "python"}, strings.Fields(os.Getenv("LIBRARIES"))...) {
		t.Run(language, func(t *testing.T) { verdicts(t, language, text, cases) })
	}
}

// deliveredCases has Herald deliver every kind of request that a receiver meets, and returns these requests together
// with forgeries made of them.
func deliveredCases(t *testing.T) (cases []judged) {
	t.Helper()
	c := tenant(t)
	add := func(name, secret string, r receiver.Request, genuine bool) {
		cases = append(cases, judgedOf(name, secret, r, genuine))
	}
	s := subscribe(t, c, "*")
	first := s.SigningSecret
	delivery := s.next(t, c)
	add("a new secret", first, delivery, true)
	add("a secret of another endpoint", signature.NewSecret(), delivery, false)
	cases = append(cases, forgeries(first, delivery)...)

	second := change(t, c, http.MethodPost, s.ID+"/rotate-secret", nil).SigningSecret
	s.verify(t, second)
	delivery = s.next(t, c)
	add("a rotated secret", second, delivery, true)
	add("the secret before a rotation", first, delivery, false)

	body := about{"previous_secret_hours": 1}
	third := change(t, c, http.MethodPost, s.ID+"/rotate-secret", body).SigningSecret
	s.verify(t, third)
	delivery = s.next(t, c)
	add("a rotated secret, overlapping", third, delivery, true)
	add("the secret before a rotation, overlapping", second, delivery, true)
	add("the one before that", first, delivery, false)

	dead, replayed := s.replayed(t, c)
	add("an attempt before death", third, dead, true)
	add("a replay", third, replayed, true)

	for _, imported := range []struct { // as other senders made them: infra/docs/moving-in.md, "What receivers verify"
		name, secret string
		strict       []string
	}{
		{"an imported secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", nil},
		{"an imported secret without its prefix", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", nil},
		{"hexadecimal", "c2a4f0b81e6d4937a5f30c2b9d81e764", nil},
		{"an imported secret without its padding", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfI", []string{"go", "rust"}},
		{"the same without its prefix", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfI", []string{"go", "rust"}},
		{"an imported secret with bits behind its end", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfJ=", []string{"rust"}},
	} {
		j := judgedOf(imported.name, imported.secret, importEndpoint(t, c, imported.secret).next(t, c), true)
		j.strict = imported.strict
		cases = append(cases, j)
	}
	return cases
}

// next publishes an event and returns its delivery, once the receiver that follows the specification took it.
func (s subscription) next(t *testing.T, c *client.Client) receiver.Request {
	t.Helper()
	before := len(s.Requests())
	publish(t, c, "user.created")
	got := s.await(t, before+1)[before]
	if got.Status != http.StatusOK {
		t.Fatalf("the receiver of the examples answered %d", got.Status)
	}
	return got
}

// replayed has a delivery die, and replays it.
func (s subscription) replayed(t *testing.T, c *client.Client) (last, replayed receiver.Request) {
	t.Helper()
	s.Fail(failing...)
	publish(t, c, "user.updated")
	letter := s.death(t)
	s.Fail()
	attempts := s.Requests()
	if err := operator.Replay(t.Context(), letter.DeliveryID); err != nil {
		t.Fatal(err)
	}
	return attempts[len(attempts)-1], s.await(t, len(attempts)+1)[len(attempts)]
}

// importEndpoint registers a receiver with a secret that it brings from another sender.
func importEndpoint(t *testing.T, c *client.Client, secret string) subscription {
	t.Helper()
	inbox := server.Inbox("/" + unique("inbox"))
	moved, err := json.Marshal(about{
		"tenant_id": c.TenantID, "url": inbox.URL, "events": []string{"user.created"}, "secret": secret,
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := get(t, api.ImportEndpoints, api.ImportRequest{Endpoints: []jsontext.Value{moved}})
	if len(answer.Data) != 1 || answer.Data[0].Result != api.ResultCreated {
		t.Fatalf("imported: %+v", answer)
	}
	s := subscription{client.Endpoint{ID: answer.Data[0].EndpointID, SigningSecret: secret}, inbox}
	s.verify(t, secret)
	return s
}

func judgedOf(name, secret string, r receiver.Request, genuine bool) judged {
	j := judged{Name: name, Secret: secret, Headers: map[string]string{}, Body: r.Body, At: r.At.Unix(), genuine: genuine}
	for _, header := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		j.Headers[header] = r.Header.Get(header)
	}
	return j
}

// forgeries are a genuine delivery with one thing changed.
func forgeries(secret string, r receiver.Request) []judged {
	var cases []judged
	forge := func(name string, change func(j *judged)) {
		j := judgedOf(name, secret, r, false)
		j.Headers = maps.Clone(j.Headers)
		change(&j)
		cases = append(cases, j)
	}
	forge("a changed body", func(j *judged) { j.Body = append(slices.Clone(j.Body), ' ') })
	forge("another id", func(j *judged) { j.Headers["webhook-id"] += "x" })
	forge("a changed time", func(j *judged) { j.Headers["webhook-timestamp"] = strconv.FormatInt(r.Timestamp+1, 10) })
	forge("the signature of wh-signature", func(j *judged) {
		j.Headers["webhook-signature"] = r.Header.Get("wh-signature")
	})
	forge("a signature as old as ten minutes", func(j *judged) {
		at := r.At.Add(-10 * time.Minute).Unix()
		j.Headers["webhook-timestamp"] = strconv.FormatInt(at, 10)
		j.Headers["webhook-signature"] = signature.SignDecoded(secret, r.ID, at, r.Body)
	})
	return cases
}

func verdictsOfGo(t *testing.T, cases []judged) {
	t.Helper()
	for _, c := range cases {
		wh, err := standardwebhooks.NewWebhook(c.Secret)
		if err != nil {
			if c.accepted("go") {
				t.Errorf("%s: %v", c.Name, err)
			}
			continue
		}
		header := http.Header{}
		for name, value := range c.Headers {
			header.Set(name, value)
		}
		time.Sleep(time.Until(time.Unix(c.At, 0))) // the bubble's clock begins in 2000, and the cases are in their order
		if err := wh.Verify(c.Body, header); (err == nil) != c.accepted("go") {
			t.Errorf("%s: %v, genuine: %v", c.Name, err, c.genuine)
		}
	}
}

// verdicts runs a language's verifier and compares the verdicts of its libraries with the cases.
func verdicts(t *testing.T, language string, text []byte, cases []judged) {
	t.Helper()
	got := map[string]string{}
	for line := range strings.Lines(verified(t, language, text)) {
		library, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		name, verdict, _ := strings.Cut(rest, "\t")
		got[library+": "+name] = verdict
	}
	if want := len(cases) * len(verifiers[language]); len(got) != want || want == 0 {
		t.Errorf("%d verdicts, want %d", len(got), want)
	}
	for _, c := range cases {
		for _, library := range verifiers[language] {
			verdict := got[language+" "+library+": "+c.Name]
			if (verdict == "verified") != c.accepted(language) || verdict == "" {
				t.Errorf("%s of %s: %s: %q, genuine: %v", library, language, c.Name, verdict, c.genuine)
			}
		}
	}
}

// verified builds a verifier where that is needed, and returns its output about the cases.
func verified(t *testing.T, language string, cases []byte) string {
	t.Helper()
	folder, kept := filepath.Join(root, "infra", "clients", "libraries"), filepath.Join(root, ".local", "libraries")
	var command []string
	switch language {
	case "node":
		scratch := t.TempDir()
		if err := os.CopyFS(scratch, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(openapiTools("node_modules"), filepath.Join(scratch, "node_modules")); err != nil {
			t.Fatal(err)
		}
		command = []string{filepath.Join(root, ".tools", "bin", "node"), filepath.Join(scratch, "node.mjs")}
	case "python":
		command = []string{openapiTools("bin", "python"), "-B", filepath.Join(folder, "python.py")}
	case "rust":
		runTool(t, folder, nil, "cargo", "build", "--locked", "--quiet",
			"--manifest-path", filepath.Join(folder, "rust", "Cargo.toml"), "--target-dir", kept)
		command = []string{filepath.Join(kept, "debug", "libraries")}
	case "java":
		classes := filepath.Join(kept, "java")
		runTool(t, folder, nil, "mvn", "-q", "-B", "-f", filepath.Join(folder, "java", "pom.xml"), "-Dbuild="+classes,
			"compile", "dependency:build-classpath", "-Dmdep.outputFile="+filepath.Join(classes, "path"))
		path, err := os.ReadFile(filepath.Join(classes, "path"))
		if err != nil {
			t.Fatal(err)
		}
		command = []string{"java", "-cp", filepath.Join(classes, "classes") + ":" + string(path), "Libraries"}
	default:
		t.Fatalf("no verifier for %s", language)
	}
	defer alone()()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stdin = bytes.NewReader(cases)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", language, err, out)
	}
	return string(out)
}
