package webhooks

import (
	"bytes"
	"context"
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

	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/audit"
	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/testkit/contract"
	"github.com/herald-webhooks/herald/internal/testkit/sealing"
)

var (
	start   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	errDown = errors.New("dynamodb herald-Endpoints: ThrottlingException")
)

// world is the service with its stores in memory: the same promises as the real ones, and
// faults on demand. It holds every exchange against the contract.
type world struct {
	t        testing.TB
	handler  *Handler
	contract *contract.Contract
	log      *bytes.Buffer

	mu        sync.Mutex
	now       time.Time
	keys      map[string]apikey.Key
	endpoints map[dynamo.EndpointKey]endpoint.Endpoint
	reads     int  // of keys and endpoints
	writes    int  // of keys
	made      int  // endpoints, each with a URL of its own
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
	busy      int    // so many writes meet changes of other endpoints; -1: all
	tried     int    // writes of endpoints
}

var loadContract = sync.OnceValues(func() (*contract.Contract, error) {
	return contract.Load("../../../infra/openapi.yaml")
})

func newWorld(t testing.TB) *world {
	t.Helper()
	described, err := loadContract()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, contract: described, now: start, log: &bytes.Buffer{},
		keys: map[string]apikey.Key{}, endpoints: map[dynamo.EndpointKey]endpoint.Endpoint{},
	}
	w.handler = &Handler{
		Endpoints: w, Keys: keyStore{w}, Secrets: w,
		URLs:  endpoint.URLPolicy{Addr: netip.Addr.IsGlobalUnicast},
		Audit: auditLog{w}, Log: slog.New(slog.NewJSONHandler(w.log, nil)),
		Now: func() time.Time {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.now = w.now.Add(time.Millisecond)
			return w.now
		},
		Budget: 1_000_000, PerHost: endpoint.MaxLive, Companions: delivery.CompanionsWebhook,
	}
	return w
}

// newTenant is a world with a key of acme's for everything.
func newTenant(t testing.TB) (w *world, key string) {
	t.Helper()
	w = newWorld(t)
	return w, w.issue("acme", apikey.Scopes()...)
}

// issue makes a key of the tenant.
func (w *world) issue(tenant string, scopes ...apikey.Scope) string {
	w.t.Helper()
	key, text := apikey.New(start)
	key.TenantID, key.Scopes = tenant, scopes
	w.keys[key.ID] = key
	return text
}

func (w *world) revoke(text string) {
	id, _ := apikey.ParseID(text)
	key := w.keys[id]
	key.RevokedAt = start
	w.keys[id] = key
}

type auditLog struct{ w *world }

func (l auditLog) Write(_ context.Context, lines ...audit.Line) error {
	if l.w.auditDown {
		return errDown
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

func (w *world) auditLines() []map[string]any { return w.lines(&w.audited) }

// lines are those of a log, without their times.
func (w *world) lines(log *bytes.Buffer) (lines []map[string]any) {
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

type keyStore struct{ w *world }

func (s keyStore) Get(_ context.Context, id string) (apikey.Key, bool, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.reads++
	if s.w.keysDown {
		return apikey.Key{}, false, errDown
	}
	key, ok := s.w.keys[id]
	return key, ok, nil
}

func (s keyStore) Spend(
	_ context.Context, was apikey.Key, units, budget int, now time.Time,
) (apikey.Key, bool, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.writes++
	if s.w.keysDown {
		return apikey.Key{}, false, errDown
	}
	key := s.w.keys[was.ID]
	if !key.Affords(units, budget, now) {
		return key, false, nil
	}
	if minute := apikey.Minute(now); key.SpentMinute < minute {
		key.SpentMinute, key.Spent = minute, 0
	}
	key.Spent += units
	s.w.keys[was.ID] = key
	return key, true, nil
}

func (w *world) Get(_ context.Context, tenant, id string) (endpoint.Endpoint, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if w.panics {
		panic("a bug")
	}
	if w.readDown {
		return endpoint.Endpoint{}, false, errDown
	}
	e, ok := w.endpoints[dynamo.EndpointKey{TenantID: tenant, EndpointID: id}]
	return e, ok, nil
}

func (w *world) Live(ctx context.Context, tenant string) ([]endpoint.Endpoint, error) {
	all, err := w.list(ctx, tenant)
	return slices.DeleteFunc(all, func(e endpoint.Endpoint) bool { return !e.Live() }), err
}

func (w *world) Deleted(ctx context.Context, tenant string) ([]endpoint.Endpoint, error) {
	all, err := w.list(ctx, tenant)
	return slices.DeleteFunc(all, endpoint.Endpoint.Live), err
}

// Prune leaves all: no test deletes more than are kept.
func (w *world) Prune(context.Context, string) error { return nil }

// met reports whether changes of other endpoints are in the way of a write.
func (w *world) met() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tried++
	if w.busy > 0 {
		w.busy--
		return true
	}
	return w.busy < 0
}

func (w *world) list(ctx context.Context, tenant string) ([]endpoint.Endpoint, error) {
	if w.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if w.readDown {
		return nil, errDown
	}
	return w.of(tenant), nil
}

func (w *world) of(tenant string) []endpoint.Endpoint {
	var found []endpoint.Endpoint
	for e := range maps.Values(w.endpoints) {
		if e.TenantID == tenant {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b endpoint.Endpoint) int { return strings.Compare(a.ID, b.ID) })
	return found
}

func (w *world) lived(tenant string) []endpoint.Endpoint {
	return slices.DeleteFunc(w.of(tenant), func(e endpoint.Endpoint) bool { return !e.Live() })
}

func (w *world) live(tenant string) int { return len(w.lived(tenant)) }

func (w *world) Readdress(ctx context.Context, was, now endpoint.Endpoint, check dynamo.Check) error {
	if err := check(w.lived(now.TenantID)); err != nil {
		return err
	}
	return w.Replace(ctx, was, now)
}

func (w *world) Create(_ context.Context, e endpoint.Endpoint, check dynamo.Check) error {
	if w.met() {
		return dynamo.ErrBusy
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.writeDown {
		return errDown
	}
	if err := check(w.lived(e.TenantID)); err != nil {
		return err
	}
	if w.live(e.TenantID) >= endpoint.MaxLive {
		return dynamo.ErrLimit
	}
	if w.slow {
		w.now = w.now.Add(time.Minute)
	}
	w.endpoints[dynamo.EndpointKey{TenantID: e.TenantID, EndpointID: e.ID}] = e
	return nil
}

func (w *world) Replace(_ context.Context, was, now endpoint.Endpoint) error {
	if w.met() {
		return dynamo.ErrBusy
	}
	w.mu.Lock()
	raced := w.raced
	w.raced = nil
	w.mu.Unlock()
	if raced != nil {
		raced()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := dynamo.EndpointKey{TenantID: now.TenantID, EndpointID: now.ID}
	switch {
	case w.writeDown:
		return errDown
	case w.endpoints[key].Revision != was.Revision:
		return dynamo.ErrConflict
	}
	restored := !was.Live() && now.Live()
	if restored && w.live(now.TenantID) >= endpoint.MaxLive {
		return dynamo.ErrLimit
	}
	w.endpoints[key] = now
	return nil
}

func (w *world) Seal(ctx context.Context, id keyring.SecretID, secret string) ([]byte, error) {
	if w.sealDown {
		return nil, errors.New("kms: KMSInternalException")
	}
	return sealing.Secrets().Seal(ctx, id, secret)
}

// sealed is what the world seals a secret as.
func (w *world) sealed(id keyring.SecretID, secret string) []byte {
	w.t.Helper()
	text, err := sealing.Secrets().Seal(w.t.Context(), id, secret)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// answer is what came back.
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
func (w *world) do(key, method, target, body string) answer {
	w.t.Helper()
	header := http.Header{"Authorization": {"Bearer " + key}}
	if body != "" {
		header.Set("Content-Type", "application/json")
	}
	return w.call(method, target, header, []byte(body))
}

func (w *world) call(method, target string, header http.Header, body []byte) answer {
	w.t.Helper()
	payload := invocation(w.t, method, target, header, body)
	return w.exchange(w.t.Context(), method, target, header, body, payload)
}

// exchange sends a request as this payload.
func (w *world) exchange(
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
	if a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Cache-Control") != "no-store" {
		w.t.Errorf("%s %s: the answer may be sniffed or stored: %v", method, target, a.header)
	}
	if a.status == http.StatusNoContent && len(a.body) > 0 {
		w.t.Errorf("%s %s: 204 with the body %s", method, target, a.body)
	}
	if err := w.contract.Check(contract.Exchange{
		Method: method, Target: target, RequestHeader: header, RequestBody: body,
		Status: a.status, ResponseHeader: a.header, ResponseBody: a.body,
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

const valid = `{"url":"https://example.com/hooks","events":["user.created"]}`

// fresh is valid, with a URL that no endpoint has had since the first.
func (w *world) fresh() string {
	if w.made++; w.made == 1 {
		return valid
	}
	return strings.Replace(valid, "/hooks", fmt.Sprintf("/hooks/%d", w.made), 1)
}

func (w *world) create(key string) view {
	w.t.Helper()
	a := w.do(key, "POST", "/v1/webhooks", w.fresh())
	if a.status != 201 {
		w.t.Fatalf("create answered %d %s", a.status, a.body)
	}
	var e view
	a.decode(w.t, &e)
	return e
}
