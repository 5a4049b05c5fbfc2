//go:build emulator

package cost

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/tenants/webhooks"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// The most that one key may burn in an hour, in dollars: its own limit, and the API's in refusals.
const mostBurnt = 1.25

// The constants are costs of a request to the management API that usage does not count: API Gateway's price for 512 KB,
// its line in the access log and the three lines of Lambda, CloudWatch's overhead for a line of the audit log, and the
// seconds of an invocation, which grow with each byte that it reads.
const (
	dollarsGateway = 1.00 / million
	bytesAccessLog = 400.0
	bytesLambdaLog = 350.0
	bytesAuditLine = 26.0
	secondsRequest = 0.030
	secondsPerByte = 0.25 / (1 << 20)
)

// The result is the most that one key can burn in an hour at the template's defaults, as cost.md states it.
func TestWhatOneKeyCanBurn(t *testing.T) {
	a := newAPI(t)
	budget := a.handler.Budget // the template's default
	body := func(n int) string {
		return string(must(json.Marshal(map[string]any{
			"url": fatURL(n), "events": event.Types(), "description": strings.Repeat("\U0001F600", 256),
			"headers": fatHeaders(), "contact": fatAbout.Contact, "metadata": fatAbout.Metadata,
			"oauth2": map[string]string{
				"token_url": fatURL(n), "client_id": fatOAuth.ClientID, "scope": fatOAuth.Scope,
				"audience": fatOAuth.Audience, "client_secret": strings.Repeat("s", endpoint.MaxClientSecret),
			},
		})))
	}
	const one = "/v1/webhooks/{id}"
	worst := 0.0
	for _, r := range []struct {
		method, target, body string
		units, crowd         int // crowd: tries that meet other changes, as many as cost no more units
		raced                int // tries that find the endpoint changed; of a test: tests that the minute has had
	}{
		{"POST", "/v1/webhooks", body(1000), 5, 0, 0}, {"POST", "/v1/webhooks", body(1001), 5, 3, 0},
		{"PUT", "/v1/webhooks", body(1001), 5, 0, 0}, {"PUT", "/v1/webhooks", body(1001), 5, 0, 3},
		{"PUT", "/v1/webhooks", body(1001), 5, 0, 4},
		{"PATCH", one, body(1002), 5, 0, 0}, {"PATCH", one, body(1003), 5, 3, 0},
		{"POST", one + "/rotate-secret", "", 5, 0, 0},
		{"POST", one + "/test", `{"type":"user.created"}`, 5, 0, 0},
		{"POST", one + "/test", `{"type":"user.created"}`, 5, 0, 5}, // the site has two endpoints
		{"DELETE", one, "", 5, 0, 0}, {"POST", one + "/restore", "", 5, 0, 0}, {"DELETE", one, "", 5, 3, 0},
		{"POST", one + "/restore", "", 5, 3, 0}, {"DELETE", one, "", 10, 7, 0}, {"POST", one + "/restore", "", 10, 7, 0},
		{"DELETE", one, "", 5, 0, 0}, {"PUT", "/v1/webhooks", body(1004), 5, 3, 0},
		{"GET", one, "", 1, 0, 0},
		{"GET", "/v1/webhooks?limit=1", "", 3, 0, 0}, {"GET", "/v1/webhooks", "", 4, 0, 0},
		{"GET", "/v1/webhooks?status=deleted&limit=1", "", 3, 0, 0},
		{"GET", "/v1/webhooks?status=deleted&limit=25", "", 3, 0, 0},
		{"GET", "/v1/webhooks?status=deleted&limit=100", "", 6, 0, 0}, {"GET", "/v1/event-types", "", 4, 0, 0},
	} {
		a.now, a.crowd, a.raced = a.now.Add(time.Minute), r.crowd, r.raced
		target := strings.Replace(r.target, "{id}", a.id, 1)
		if strings.HasSuffix(target, "/test") {
			for ; a.raced > 0; a.raced-- {
				a.do(r.method, target, r.body)
			}
			a.refusals = true // of a count, which is asked for twice
		}
		status, dollars := a.do(r.method, target, r.body)
		a.refusals = false
		dollars += waiting(r.crowd)
		if strings.HasSuffix(r.target, "/test") { // the receiver takes all the time that an attempt may
			dollars += usage{gbSeconds: 0.5 * number(t, a.options, "AttemptTimeoutSeconds")}.all()
		}
		each := dollars / float64(r.units)
		worst = max(worst, each)
		t.Logf("%s %s, in a crowd of %d, raced %d times: %d, $%.2f a million, by units $%.2f",
			r.method, r.target, r.crowd, r.raced, status, dollars*million, each*million)
		if refused := status >= 300; refused != (r.raced == 4) { // as often as a request tries
			t.Errorf("%s %s, raced %d times: %d", r.method, r.target, r.raced, status)
		}
	}
	crowd := a.crowded(budget, body)
	a.handler.Budget = 1 // of which the last request has spent all
	status, refusal := a.do("GET", "/v1/event-types", "")
	if status != http.StatusTooManyRequests {
		t.Fatalf("beyond its limit: %d", status)
	}
	most := float64(budget)*worst + crowdSize*refusal
	t.Logf("%d changes at once: $%.5f of $%.5f", crowdSize, crowd, most)
	if crowd > most {
		t.Errorf("%d changes at once burn $%.5f, more than $%.5f", crowdSize, crowd, most)
	}
	burnt := 60*float64(budget)*worst + 3600*number(t, a.options, "ApiRateLimit")*refusal
	t.Logf("a refusal: $%.2f a million; in an hour: $%.2f", refusal*million, burnt)
	said := fmt.Sprintf("**One API key** can burn at most $%.2f an hour", burnt)
	if !strings.Contains(string(must(os.ReadFile(page))), said) {
		t.Errorf("cost.md does not say: %s", said)
	}
	if burnt > mostBurnt {
		t.Errorf("one key can burn $%.2f an hour", burnt)
	}
}

// The most that a request waits for others, in seconds.
const mostWaiting = 7.0

// waiting returns the dollars for the waits of a request that meets so many changes. Each wait is longer than the one
// before it, up to a bound.
func waiting(met int) float64 {
	seconds := 0.0
	for n := range met {
		seconds += min(0.2*float64(int(1)<<n), 1.6)
	}
	return usage{gbSeconds: 0.25 * min(seconds, mostWaiting)}.all()
}

const crowdSize = 200

// crowded returns the dollars that one minute of simultaneous changes of URLs burns. It assumes that each admitted
// request waits as long as it may.
func (a *api) crowded(budget int, body func(int) string) (dollars float64) {
	a.t.Helper()
	a.now, a.refusals = a.now.Add(time.Minute), true
	before := a.usage()
	var all sync.WaitGroup
	for n := range crowdSize {
		text := body(2000 + n)
		target := "/v1/webhooks/" + fatID(n%(endpoint.MaxLive-2))
		all.Go(func() { answerOf(a.t, a.handler, a.key, "PATCH", target, text) })
	}
	all.Wait()
	u := a.usage().plus(-1, before)
	u[invocations] = crowdSize
	u[gbSeconds] = 0.25 * (secondsRequest*crowdSize + secondsPerByte*u[reads]*4096 + mostWaiting*float64(budget)/5)
	u[logged] += crowdSize*(bytesAccessLog+bytesLambdaLog) + a.newLines()
	return u.all() + dollarsGateway*crowdSize
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
		Settings: functions.Settings[webhooks.Settings](t, a.options, "webhooks"), AWS: a.options.AWS("webhooks"),
		Log: functions.Log(&a.output),
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

// fill stores the largest number of endpoints less two. The test creates these two itself.
func (a *api) fill(client *dynamodb.Client, table string) {
	a.t.Helper()
	store := dynamo.NewEndpoints(client, table)
	e := endpoint.Endpoint{
		TenantID: "acme", Description: strings.Repeat("\U0001F600", 256), Events: event.Types(), Status: endpoint.Active,
		CreatedAt: a.now, UpdatedAt: a.now, SecretRotatedAt: a.now, SealedSecret: make([]byte, 200), SecretVersion: 9,
		Revision: strings.Repeat("r", 32), HeadersVersion: 9,
		HeaderNames: slices.Sorted(maps.Keys(fatHeaders())), SealedHeaders: make([]byte, endpoint.MaxHeaderBytes+200),
		About: fatAbout, AboutRow: endpoint.AboutKept,
		OAuthVersion: 9, SealedOAuth: make([]byte, endpoint.MaxClientSecret+200),
	}
	for n := range endpoint.MaxLive - 2 {
		e.ID, e.URL, e.OAuth = fatID(n), fatURL(n), &endpoint.OAuth{}
		*e.OAuth = fatOAuth
		e.OAuth.TokenURL = e.URL
		must(0, store.Create(a.t.Context(), e, nil))
	}
	said := must(client.GetItem(a.t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: attributes{
		"tenant_id": text("acme"), "endpoint_id": text("#about#" + e.ID),
	}})).Item
	row := must(client.GetItem(a.t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: attributes{
		"tenant_id": text("acme"), "endpoint_id": text(e.ID),
	}})).Item
	for n := range endpoint.MaxDeleted {
		id := fmt.Sprintf("webhook_01JD%06d0000000000%06d", 0, n)
		said["endpoint_id"] = text("#about#" + id)
		must(client.PutItem(a.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: said}))
		row["endpoint_id"] = text("deleted#" + id)
		row["status"], row["deleted_at"] = text("deleted"), row["created_at"]
		must(client.PutItem(a.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: row}))
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// fatHeaders are the largest number of headers, with the longest names and the most bytes.
func fatHeaders() map[string]string {
	headers := map[string]string{}
	for n := range endpoint.MaxHeaders {
		name := fmt.Sprintf("X%d-%s", n, strings.Repeat("x", 61))
		headers[name] = strings.Repeat("v", endpoint.MaxHeaderBytes/endpoint.MaxHeaders-len(name))
	}
	return headers
}

// fatAbout is the most that an owner can say of an endpoint.
var fatAbout = endpoint.About{
	Contact: strings.Repeat("\U0001F600", endpoint.MaxText), Metadata: fatMetadata(),
}

// fatOAuth is the longest way to a token, but for the URL: it is the endpoint's, so that one bound holds for both.
var fatOAuth = endpoint.OAuth{
	ClientID: strings.Repeat("i", endpoint.MaxClientID), Method: endpoint.ClientSecretBasic,
	Scope: strings.Repeat("s", endpoint.MaxScope), Audience: strings.Repeat("a", endpoint.MaxAudience),
}

func fatMetadata() map[string]string {
	pairs := map[string]string{}
	for n := range endpoint.MaxMetadata {
		name := fmt.Sprintf("k%02d", n)
		pairs[name] = strings.Repeat("v", endpoint.MaxMetadataBytes/endpoint.MaxMetadata-len(name))
	}
	return pairs
}

func fatID(n int) string { return fmt.Sprintf("webhook_01JD%06d0000000000%06d", 1, n) }

func fatURL(n int) string {
	return fmt.Sprintf("https://r%d.s%d.example/%s", n, n/20, strings.Repeat("x", 2000))
}

// do makes a request. It returns the status and the cost in dollars.
func (a *api) do(method, target, body string) (status int, dollars float64) {
	a.t.Helper()
	before := a.usage()
	status, answer := answerOf(a.t, a.handler, a.key, method, target, body)
	u := a.usage().plus(-1, before)
	u[invocations] = 1
	u[gbSeconds] = 0.25 * (secondsRequest + secondsPerByte*u[reads]*4096)
	u[logged] += bytesAccessLog + bytesLambdaLog
	u[sent] = float64(len(answer)) + framing
	u[logged] += a.newLines()
	if status == http.StatusCreated {
		var made struct{ ID string }
		must(0, json.Unmarshal([]byte(answer), &made))
		a.id = made.ID
	}
	return status, u.all() + dollarsGateway*float64(1+(len(answer)+len(body))/(512<<10))
}

// newLines are the bytes of the audit lines that have come.
func (a *api) newLines() (bytes float64) {
	a.t.Helper()
	lines := testkit.LogLines(a.t, a.cfg, a.options.Resources["AuditLogs"])
	for _, line := range lines[a.audited:] {
		bytes += float64(len(line)) + bytesAuditLine
	}
	a.audited = len(lines)
	return bytes
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
