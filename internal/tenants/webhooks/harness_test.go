package webhooks

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/edges/audit"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/tenants/management"
	"github.com/herald-webhooks/herald/internal/testkit/contract"
	"github.com/herald-webhooks/herald/internal/testkit/model"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rig is the service on the model of AWS, with faults on demand. Without the race detector it holds every exchange
// against the contract of the API.
type rig struct {
	t        testing.TB
	handler  *Handler
	contract *contract.Contract
	log      *bytes.Buffer

	aws       *model.Model
	mu        sync.Mutex
	now       time.Time
	reads     int  // of keys and endpoints
	writes    int  // of keys
	made      int  // endpoints, each with its own URL
	keysDown  bool // faults
	readDown  bool
	writeDown bool
	sealDown  bool
	auditDown bool
	audited   bytes.Buffer
	panics    bool
	slow      bool   // a write takes a minute
	hangs     bool   // a list never ends
	raced     func() // runs once between a read and the write that follows
	everyRace func() // runs between each read and the write that follows
	busy      int    // so many writes meet changes of other endpoints; -1: all
	tried     int    // writes of endpoints
	gone      string // a type of the catalogue before, which the description here does not have
	counted   int    // tests
}

var loadContract = sync.OnceValues(func() (*contract.Contract, error) {
	return contract.Load("../../../infra/openapi.yaml")
})

func newRig(t testing.TB) *rig {
	t.Helper()
	described, err := loadContract()
	if err != nil {
		t.Fatal(err)
	}
	w := &rig{
		t: t, contract: described, now: start, log: &bytes.Buffer{}, aws: model.New(),
	}
	w.aws.Judge = w.judge
	w.aws.Made = func(name, _ string) {
		if name == "Write Deliveries" {
			w.counted++
		}
	}
	p := w.aws.Process("webhooks")
	w.handler = &Handler{
		Endpoints: endpoints{p.Endpoints(), w}, Keys: keys{p.APIKeys(), w}, Secrets: w,
		Published: endpoints{p.Endpoints(), w},
		URLs:      endpoint.URLPolicy{Addr: netip.Addr.IsGlobalUnicast},
		Audit:     auditLog{p.Audit(), w}, Log: slog.New(slog.NewJSONHandler(w.log, nil)),
		Now: func() time.Time {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.now = w.now.Add(time.Millisecond)
			return w.now
		},
		Tests: Tests{
			Circuits: p.Circuits(), Counts: p.TestCounts(),
			Deliveries: p.Sender(w.aws.DeliveryQueue), NewID: rand.Text, PerMinute: fiveTests,
		},
		Random: func() float64 { return 0.5 },
		Budget: 1_000_000, Bounds: endpoint.Bounds{Live: endpoint.MaxLive, AtSite: endpoint.MaxLive},
		Companions: delivery.CompanionsWebhook,
	}
	return w
}

// newTenant is a rig with a key of acme's for everything.
func newTenant(t testing.TB) (w *rig, key string) {
	t.Helper()
	w = newRig(t)
	return w, w.issue("acme", apikey.Scopes()...)
}

// issue makes a key of the tenant.
func (w *rig) issue(tenant string, scopes ...apikey.Scope) string {
	w.t.Helper()
	key, text := apikey.New(start)
	key.TenantID, key.Scopes = tenant, scopes
	w.aws.Keys[key.ID] = key
	return text
}

func (w *rig) revoke(text string) {
	id, _ := apikey.ParseID(text)
	key := w.aws.Keys[id]
	key.RevokedAt = start
	w.aws.Keys[id] = key
}

// judge has AWS fail as the test says.
func (w *rig) judge(c *model.Call) model.Verdict {
	keys, endpoints := strings.HasSuffix(c.Name, "ApiKeys"), strings.HasSuffix(c.Name, "Endpoints")
	write := strings.HasPrefix(c.Name, "Write")
	switch {
	case endpoints && w.panics:
		panic("a bug")
	case endpoints && !write && w.hangs:
		return model.Stalled
	case keys && w.keysDown, endpoints && !write && w.readDown, endpoints && write && w.writeDown,
		c.Name == "PutLogEvents" && w.auditDown:
		return model.Refused
	}
	return model.Done
}

type auditLog struct {
	model.Audit
	w *rig
}

func (l auditLog) Write(ctx context.Context, lines ...audit.Line) error {
	if err := l.Audit.Write(ctx, lines...); err != nil {
		return err
	}
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			return err
		}
		fmt.Fprintln(&l.w.audited, string(text))
	}
	return nil
}

func (w *rig) auditLines() []map[string]any { return w.lines(&w.audited) }

// lines are those of a log, without their times.
func (w *rig) lines(log *bytes.Buffer) (lines []map[string]any) {
	w.t.Helper()
	for text := range strings.Lines(log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			w.t.Fatalf("log line %q: %v", text, err)
		}
		delete(line, "time")
		lines = append(lines, line)
	}
	return lines
}

// keys counts the calls.
type keys struct {
	model.APIKeys
	w *rig
}

func (k keys) Get(ctx context.Context, id string) (apikey.Key, bool, error) {
	k.w.count(&k.w.reads)
	return k.APIKeys.Get(ctx, id)
}

func (k keys) Spend(ctx context.Context, was apikey.Key, units, budget int, now time.Time) (apikey.Key, bool, error) {
	k.w.count(&k.w.writes)
	return k.APIKeys.Spend(ctx, was, units, budget, now)
}

func (w *rig) count(n *int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*n++
}

// endpoints counts the calls, and has others change endpoints between them.
type endpoints struct {
	model.Endpoints
	w *rig
}

func (e endpoints) Get(ctx context.Context, tenant, id string) (endpoint.Endpoint, bool, error) {
	e.w.count(&e.w.reads)
	return e.Endpoints.Get(ctx, tenant, id)
}

func (e endpoints) Published(ctx context.Context, id string) (endpoint.Endpoint, bool, error) {
	e.w.count(&e.w.reads)
	return e.Endpoints.Published(ctx, id)
}

func (e endpoints) Live(ctx context.Context, tenant string) ([]endpoint.Endpoint, error) {
	e.w.count(&e.w.reads)
	return e.Endpoints.Live(ctx, tenant)
}

func (e endpoints) Deleted(ctx context.Context, tenant string) ([]endpoint.Endpoint, error) {
	e.w.count(&e.w.reads)
	return e.Endpoints.Deleted(ctx, tenant)
}

func (e endpoints) About(ctx context.Context, all ...endpoint.Endpoint) ([]endpoint.Endpoint, error) {
	for _, one := range all {
		if one.AboutRow != endpoint.AboutNone { // the store asks, once
			e.w.count(&e.w.reads)
			break
		}
	}
	return e.Endpoints.About(ctx, all...)
}

func (e endpoints) Marks(ctx context.Context, tenant string) (endpoint.TenantMarks, error) {
	e.w.count(&e.w.reads)
	return e.Endpoints.Marks(ctx, tenant)
}

func (e endpoints) Create(ctx context.Context, now endpoint.Endpoint, check dynamo.Check) error {
	if e.w.met() {
		return dynamo.ErrBusy
	}
	if e.w.slow {
		e.w.mu.Lock()
		e.w.now = e.w.now.Add(time.Minute)
		e.w.mu.Unlock()
	}
	return e.Endpoints.Create(ctx, now, check)
}

func (e endpoints) Readdress(ctx context.Context, was, now endpoint.Endpoint, check dynamo.Check) error {
	if e.w.met() {
		return dynamo.ErrBusy
	}
	return e.Endpoints.Readdress(ctx, was, now, func(live []endpoint.Endpoint) error {
		if err := check(live); err != nil {
			return err
		}
		e.w.race()
		return nil
	})
}

func (e endpoints) Replace(ctx context.Context, was, now endpoint.Endpoint) error {
	if e.w.met() {
		return dynamo.ErrBusy
	}
	e.w.race()
	return e.Endpoints.Replace(ctx, was, now)
}

// met reports whether changes of other endpoints are in the way of a write.
func (w *rig) met() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tried++
	if w.busy > 0 {
		w.busy--
		return true
	}
	return w.busy < 0
}

// race has another request change something, once.
func (w *rig) race() {
	w.mu.Lock()
	raced := w.raced
	w.raced = nil
	w.mu.Unlock()
	if raced != nil {
		raced()
	}
	if w.everyRace != nil {
		w.everyRace()
	}
}

// of are a tenant's endpoints, by id.
func (w *rig) of(tenant string) (found []endpoint.Endpoint) {
	w.aws.Mu.Lock()
	defer w.aws.Mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(w.aws.Endpoints)) {
		if e := w.aws.Endpoints[id]; e.TenantID == tenant {
			found = append(found, e)
		}
	}
	return found
}

func (w *rig) live(tenant string) int {
	return len(slices.DeleteFunc(w.of(tenant), func(e endpoint.Endpoint) bool { return !e.Live() }))
}

func (w *rig) Seal(ctx context.Context, id keyring.SecretID, secret string) ([]byte, error) {
	if w.sealDown {
		return nil, errors.New("kms: KMSInternalException")
	}
	return sealing.Secrets().Seal(ctx, id, secret)
}

// sealed is a secret as the rig seals it.
func (w *rig) sealed(id keyring.SecretID, secret string) []byte {
	w.t.Helper()
	text, err := sealing.Secrets().Seal(w.t.Context(), id, secret)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) decode(t testing.TB, out any) {
	t.Helper()
	if err := json.Unmarshal(a.body, out); err != nil {
		t.Fatalf("decoding %q: %v", a.body, err)
	}
}

// do sends a request with body as JSON; call sends one as it is.
func (w *rig) do(key, method, target, body string) answer {
	w.t.Helper()
	header := http.Header{"Authorization": {"Bearer " + key}}
	if body != "" {
		header.Set("Content-Type", "application/json")
	}
	return w.call(method, target, header, []byte(body))
}

func (w *rig) call(method, target string, header http.Header, body []byte) answer {
	w.t.Helper()
	payload := invocation(w.t, method, target, header, body)
	return w.exchange(w.t.Context(), method, target, header, body, payload)
}

// exchange sends a request as this payload.
func (w *rig) exchange(
	ctx context.Context, method, target string, header http.Header, body, payload []byte,
) answer {
	w.t.Helper()
	out, err := w.handler.Invoke(ctx, payload)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, target, err)
	}
	var in events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(out, &in); err != nil {
		w.t.Fatalf("%s %s answered %q: %v", method, target, out, err)
	}
	if in.IsBase64Encoded {
		w.t.Errorf("%s %s: the answer is to be read as Base64", method, target)
	}
	a := answer{status: in.StatusCode, header: http.Header{}, body: []byte(in.Body)}
	for name, value := range in.Headers {
		a.header.Set(name, value)
	}
	cached := "no-store"
	if a.status == http.StatusOK && (strings.HasSuffix(target, "/jwks.json") || target == "/v1/source-addresses") {
		cached = "max-age=3600"
	}
	if a.status == http.StatusOK && strings.HasPrefix(target, "/v1/event-types") {
		cached = "private, max-age=300"
	}
	if a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Cache-Control") != cached {
		w.t.Errorf("%s %s: the answer may be sniffed or stored: %v", method, target, a.header)
	}
	if a.status == http.StatusNoContent && len(a.body) > 0 {
		w.t.Errorf("%s %s: 204 with the body %s", method, target, a.body)
	}
	known := func(body []byte) []byte {
		if w.gone == "" {
			return body
		}
		return bytes.ReplaceAll(body, []byte(w.gone), []byte("user.restored"))
	}
	if detectsRaces {
		return a // The check takes ten times as long with it. make unit runs these tests without it as well.
	}
	if err := w.contract.Check(contract.Exchange{
		Method: method, Target: target, RequestHeader: header, RequestBody: known(body),
		Status: a.status, ResponseHeader: a.header, ResponseBody: known(a.body),
	}); err != nil {
		w.t.Error(err)
	}
	return a
}

func invocation(t testing.TB, method, target string, header http.Header, body []byte) []byte {
	t.Helper()
	path, query, _ := strings.Cut(target, "?")
	headers := map[string]string{}
	for name, values := range header {
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	in := map[string]any{
		"version": "2.0", "rawPath": path, "rawQueryString": query, "headers": headers,
		"isBase64Encoded": true, "body": body, // bytes are Base64 in JSON
		"requestContext": map[string]any{
			"requestId": "req-1",
			"http":      map[string]any{"method": method, "sourceIp": "192.0.2.1"},
		},
	}
	payload, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// fiveTests are those that a minute takes at a site with one endpoint.
const fiveTests = 5

const valid = `{"url":"https://example.com/hooks","events":["user.created"]}`

// fresh is valid at first. Each further call returns a body with a URL that no endpoint has had.
func (w *rig) fresh() string {
	if w.made++; w.made == 1 {
		return valid
	}
	return strings.Replace(valid, "/hooks", fmt.Sprintf("/hooks/%d", w.made), 1)
}

func (w *rig) create(key string) management.Endpoint {
	w.t.Helper()
	a := w.do(key, "POST", "/v1/webhooks", w.fresh())
	if a.status != 201 {
		w.t.Fatalf("create answered %d %s", a.status, a.body)
	}
	var e management.Endpoint
	a.decode(w.t, &e)
	return e
}
