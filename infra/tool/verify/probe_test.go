package verify

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// lambdas is Lambda, and CloudFormation, of a stack herald with the functions of probes by name.
type lambdas struct {
	probes  map[string][]byte // code
	removed []string
	payload []byte // of the last invocation
	answer  string
	refuses string // the error of DeleteFunction
}

func (l *lambdas) Do(r *http.Request) (*http.Response, error) {
	var request []byte
	if r.Body != nil {
		var err error
		if request, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/2015-03-31/functions/"), "/")
	status, answer, header := http.StatusOK, `{"Role":"role","Configuration":{"State":"Active"}}`, http.Header{}
	switch {
	case strings.Contains(string(request), "Action=ListStackResources"):
		answer = `<R><ListStackResourcesResult><StackResourceSummaries><member>` +
			`<LogicalResourceId>Endpoints</LogicalResourceId><PhysicalResourceId>herald-Endpoints-1A</PhysicalResourceId>` +
			`</member></StackResourceSummaries></ListStackResourcesResult></R>`
	case r.Method == http.MethodPost && rest == "invocations":
		l.payload, answer = request, l.answer
	case r.Method == http.MethodPost:
		var made struct {
			FunctionName string
			Code         struct{ ZipFile []byte }
		}
		if err := json.Unmarshal(request, &made); err != nil {
			return nil, err
		}
		l.probes[made.FunctionName] = made.Code.ZipFile
	case r.Method == http.MethodDelete && l.refuses != "":
		status, answer = http.StatusForbidden, `{"Message":"`+l.refuses+`"}`
		header.Set("X-Amzn-ErrorType", l.refuses)
	case r.Method == http.MethodDelete && l.probes[name] == nil:
		status = http.StatusNotFound
		header.Set("X-Amzn-ErrorType", "ResourceNotFoundException")
	case r.Method == http.MethodDelete:
		delete(l.probes, name)
		l.removed = append(l.removed, name)
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func (l *lambdas) prober(stack string) Prober {
	return NewProber(aws.Config{
		Region: "eu-central-1", HTTPClient: l, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
	}, stack)
}

// kept keeps probes that are removed, for the test.
type kept struct{ lambdas }

func (k *kept) Do(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodDelete {
		return (&lambdas{}).Do(r)
	}
	return k.lambdas.Do(r)
}

// A caller with the right to invoke functions of the account can tell a probe nothing: the calls are in its code.
func TestProbe_hasItsCallsInItsCodeForFiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := []Call{
			{"fanout", "dynamodb:GetItem", get("Endpoints", tenantKey, ""), false}, {"fanout", "kms:Encrypt", `{}`, false},
		}
		l := &kept{lambdas{probes: map[string][]byte{}, answer: `["","AccessDenied"]`}}
		p := NewProber(aws.Config{
			Region: "eu-central-1", HTTPClient: l, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		}, "herald")
		codes, err := p.Try(context.Background(), "fanout", calls)
		if diff := cmp.Diff([]string{"", "AccessDenied"}, codes); diff != "" || err != nil {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
		if len(l.payload) != 0 {
			t.Errorf("the probe is told %s", l.payload)
		}
		var got struct {
			Until int64            `json:"until"`
			Calls []map[string]any `json:"calls"`
		}
		if err := json.Unmarshal(file(t, l.probes[p.probe("fanout")], "calls.json"), &got); err != nil {
			t.Fatal(err)
		}
		if age := time.Until(time.Unix(got.Until, 0)); age != 5*time.Minute || len(got.Calls) != len(calls) {
			t.Errorf("%d calls for %s", len(got.Calls), age)
		}
		input, _ := got.Calls[0]["input"].(map[string]any)
		if got.Calls[0]["action"] != "dynamodb:GetItem" || input["TableName"] != "herald-Endpoints-1A" {
			t.Errorf("the first call is %v", got.Calls[0])
		}
	})
}

func file(t *testing.T, archive []byte, name string) []byte {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The probes of a run that was killed are removed by the next run, even if it is not asked for probes, or is refused.
func TestClearAway_removesTheProbesOfAnEarlierRun(t *testing.T) {
	l := &lambdas{probes: map[string][]byte{}}
	p := l.prober("herald")
	var want []string
	for _, function := range slices.Concat(batching, others) {
		l.probes[p.probe(function)] = []byte("code")
		want = append(want, p.probe(function))
	}
	l.probes["herald-fanout"] = []byte("the stack's own")
	slices.Sort(want)
	r := operating(t, func(string) string { return `{"data":[{"endpoint_id":"webhook_1","description":"crm"}]}` })
	r.RemoveProbes = p.Remove
	if _, err := clearAway(context.Background(), r); err == nil {
		t.Error("another's tenant is cleared")
	}
	slices.Sort(l.removed)
	if diff := cmp.Diff(want, l.removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if left := slices.Collect(maps.Keys(l.probes)); !slices.Equal(left, []string{"herald-fanout"}) {
		t.Errorf("left are %v", left)
	}
	if err := p.Remove(context.Background()); err != nil {
		t.Errorf("nothing is left: %v", err)
	}
	l.refuses = "AccessDeniedException"
	if _, err := clearAway(context.Background(), r); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("without the right to remove them: %v", err)
	}
}

// A probe is deleted by its name, so no function of any stack may have that name. Lambda takes 64 characters, and a
// stack's name has 53 at most.
func TestProbe_hasANameThatNoFunctionHas(t *testing.T) {
	functions, seen := slices.Concat(batching, others), map[string]bool{}
	for _, function := range functions {
		probe := Prober{stack: strings.Repeat("s", 53)}.probe(function)
		if slices.ContainsFunc(functions, func(f string) bool { return strings.HasSuffix(probe, "-"+f) }) {
			t.Errorf("%s may be a function of another stack", probe)
		}
		if len(probe) > 64 || seen[probe] {
			t.Errorf("%s has %d characters, or is another's", probe, len(probe))
		}
		seen[probe] = true
	}
}
