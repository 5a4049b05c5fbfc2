//go:build emulator

package cost

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/infra/pipeline"
	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/event"
	"github.com/herald-webhooks/herald/internal/handler/webhooks"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// The most that one key may burn in an hour, in dollars: its own limit, and the API's in refusals.
const mostBurnt = 1.00

// Of the management API, beside usage: a request of 512 KB, its line in the access log with what CloudWatch adds,
// Lambda's three lines, what CloudWatch adds to a line of the audit log, and seconds of an invocation, longer for each
// byte that it reads.
const (
	dollarsGateway = 1.00 / million
	bytesAccessLog = 400.0
	bytesLambdaLog = 350.0
	bytesAuditLine = 26.0
	secondsRequest = 0.030
	secondsPerByte = 0.25 / (1 << 20)
)

// What one key can burn in an hour at the template's defaults, as cost.md has it.
func TestWhatOneKeyCanBurn(t *testing.T) {
	a := newAPI(t)
	budget := a.handler.Budget // the template's default
	body := func(n int) string {
		return string(must(json.Marshal(map[string]any{
			"url": fatURL(n), "events": event.Types(), "description": strings.Repeat("\U0001F600", 256),
		})))
	}
	const one = "/v1/webhooks/{id}"
	worst := 0.0
	for _, r := range []struct {
		method, target, body string
		units                int
	}{
		{"POST", "/v1/webhooks", body(1000), 5}, {"POST", "/v1/webhooks", body(1001), 5},
		{"PATCH", one, body(1002), 5}, {"POST", one + "/rotate-secret", "", 5},
		{"DELETE", one, "", 5}, {"POST", one + "/restore", "", 5}, {"GET", one, "", 1},
		{"GET", "/v1/webhooks?limit=1", "", 3}, {"GET", "/v1/webhooks", "", 4},
		{"GET", "/v1/webhooks?status=deleted&limit=25", "", 3},
		{"GET", "/v1/webhooks?status=deleted&limit=100", "", 6}, {"GET", "/v1/webhooks/event-types", "", 1},
		{"GET", "/v1/event-types", "", 4},
	} {
		a.now = a.now.Add(time.Minute)
		status, dollars := a.do(r.method, strings.Replace(r.target, "{id}", a.id, 1), r.body)
		each := dollars / float64(r.units)
		worst = max(worst, each)
		t.Logf("%s %s: %d, $%.2f a million, by units $%.2f", r.method, r.target, status, dollars*million, each*million)
		if status >= 300 {
			t.Errorf("%s %s is refused", r.method, r.target)
		}
	}
	a.handler.Budget = 1 // of which the last request has spent all
	status, refusal := a.do("GET", "/v1/webhooks/event-types", "")
	if status != http.StatusTooManyRequests {
		t.Fatalf("beyond its limit: %d", status)
	}
	burnt := 60*float64(budget)*worst + 3600*number(t, a.options, "ApiRateLimit")*refusal
	t.Logf("a refusal: $%.2f a million; in an hour: $%.2f", refusal*million, burnt)
	said := fmt.Sprintf("**One API key** can burn $%.2f an hour", burnt)
	if !strings.Contains(string(must(os.ReadFile(page))), said) {
		t.Errorf("cost.md does not say: %s", said)
	}
	if burnt > mostBurnt {
		t.Errorf("one key can burn $%.2f an hour", burnt)
	}
}

// api is the management API of a tenant with the largest endpoints that there can be.
type api struct {
	*rig
	handler *webhooks.Handler
	key, id string
	audited int // lines that are counted
}

func newAPI(t *testing.T) *api {
	t.Helper()
	a := &api{rig: newRig(t, traffic{})}
	client := dynamodb.NewFromConfig(a.cfg)
	a.key = newKey(t, dynamo.NewAPIKeys(client, a.options.Resources["ApiKeys"]), "acme")
	a.fill(client, a.options.Resources["Endpoints"])
	a.handler = must(webhooks.New(webhooks.Config{
		Settings: pipeline.Settings[webhooks.Settings](t, a.options, "webhooks"), AWS: a.options.AWS("webhooks"),
		Log: pipeline.Log(&a.output),
	}))
	a.handler.Now = a.options.Now
	return a
}

// newKey stores a key with all scopes and the longest description.
func newKey(t testing.TB, keys *dynamo.APIKeys, tenant string) (secret string) {
	t.Helper()
	key, secret := apikey.New(time.Now())
	key.TenantID, key.Scopes, key.Description = tenant, apikey.Scopes(), strings.Repeat("\u00e4", 256)
	must(0, keys.Put(t.Context(), key))
	return secret
}

// fill stores as many as there can be, but for two that can be made.
func (a *api) fill(client *dynamodb.Client, table string) {
	a.t.Helper()
	store := dynamo.NewEndpoints(client, table)
	e := endpoint.Endpoint{
		TenantID: "acme", Description: strings.Repeat("\U0001F600", 256), Events: event.Types(), Status: endpoint.Active,
		CreatedAt: a.now, UpdatedAt: a.now, SecretRotatedAt: a.now, SealedSecret: make([]byte, 200), SecretVersion: 9,
		Revision: strings.Repeat("r", 32),
	}
	for n := range endpoint.MaxLive - 2 {
		e.ID, e.URL = fmt.Sprintf("webhook_01JD%06d0000000000%06d", 1, n), fatURL(n)
		must(0, store.Create(a.t.Context(), e, nil))
	}
	row := must(client.GetItem(a.t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: attributes{
		"tenant_id": text("acme"), "endpoint_id": text(e.ID),
	}})).Item
	for n := range endpoint.MaxTotal - endpoint.MaxLive {
		row["endpoint_id"] = text(fmt.Sprintf("deleted#webhook_01JD%06d0000000000%06d", 0, n))
		row["status"], row["deleted_at"] = text("deleted"), row["created_at"]
		must(client.PutItem(a.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: row}))
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func fatURL(n int) string {
	return fmt.Sprintf("https://r%d.example.com/%s", n, strings.Repeat("x", 2000))
}

// do makes a request and returns what it costs, in dollars, and what it has spent of the key.
func (a *api) do(method, target, body string) (status int, dollars float64) {
	a.t.Helper()
	before := a.usage()
	status, answer := answerOf(a.t, a.handler, a.key, method, target, body)
	u := a.usage().plus(-1, before)
	u[invocations] = 1
	u[gbSeconds] = 0.25 * (secondsRequest + secondsPerByte*u[reads]*4096)
	u[logged] += bytesAccessLog + bytesLambdaLog
	u[sent] = float64(len(answer)) + framing
	lines := testkit.LogLines(a.t, a.cfg, a.options.Resources["AuditLogs"])
	for _, line := range lines[a.audited:] {
		u[logged] += float64(len(line)) + bytesAuditLine
	}
	a.audited = len(lines)
	if status == http.StatusCreated {
		var made struct{ ID string }
		must(0, json.Unmarshal([]byte(answer), &made))
		a.id = made.ID
	}
	return status, u.all() + dollarsGateway*float64(1+(len(answer)+len(body))/(512<<10))
}

// answerOf makes a request as API Gateway hands it on.
func answerOf(t testing.TB, h lambda.Handler, key, method, target, body string) (status int, answer string) {
	t.Helper()
	path, query, _ := strings.Cut(target, "?")
	out := must(h.Invoke(t.Context(), must(json.Marshal(map[string]any{
		"rawPath": path, "rawQueryString": query, "body": body,
		"requestContext": map[string]any{"requestId": "JKJaXmPLvHcESHA=", "http": map[string]any{
			"method": method, "sourceIp": "203.0.113.9"}},
		"headers": map[string]string{"authorization": "Bearer " + key, "content-type": "application/json"},
	}))))
	var of struct {
		StatusCode int    `json:"statusCode"`
		Body       string `json:"body"`
	}
	must(0, json.Unmarshal(out, &of))
	return of.StatusCode, of.Body
}
