package webhooks_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/endpoint"
)

// fault is what a problem document says.
type fault struct {
	Code   string `json:"code"`
	Errors []struct {
		Pointer   *string `json:"pointer"`
		Parameter string  `json:"parameter"`
		Detail    string  `json:"detail"`
	} `json:"errors"`
}

// brief is code and places, "invalid_body /url ?limit".
func (a answer) brief(t testing.TB) string {
	t.Helper()
	var f fault
	a.decode(t, &f)
	text := fmt.Sprintf("%d %s", a.status, f.Code)
	for _, e := range f.Errors {
		if e.Pointer != nil {
			text += fmt.Sprintf(" %q", *e.Pointer)
		} else {
			text += " ?" + e.Parameter
		}
	}
	return text
}

func TestHandler_readNew_namesEveryPlaceAtFault(t *testing.T) {
	w, key := newTenant(t)
	const withEvents = `{"url":"https://a.example","events":`
	long := strings.Repeat("ä", 257)
	for body, want := range map[string]string{
		``:                                       `415 unsupported_media_type`,
		` `:                                      `400 invalid_json ""`,
		`{`:                                      `400 invalid_json ""`,
		`{"url"`:                                 `400 invalid_json "/url"`,
		valid + `x`:                              `400 invalid_json ""`,
		`{"url":"a","url":"b"}`:                  `400 invalid_json "/url"`,
		"{\"url\":\"\xff\"}":                     `400 invalid_json "/url"`,
		`null`:                                   `400 invalid_body ""`,
		`[]`:                                     `400 invalid_body ""`,
		`{"uri":"x"}`:                            `400 invalid_body "/uri"`,
		`{"status":"active"}`:                    `400 invalid_body "/status"`,
		`{"signing_secret":"x"}`:                 `400 invalid_body "/signing_secret"`,
		`{"a/b~c":1}`:                            `400 invalid_body "/a~1b~0c"`,
		`{"url":null,"events":null}`:             `400 invalid_body "/url" "/events"`,
		`{"url":1,"events":"*"}`:                 `400 invalid_body "/url" "/events"`,
		`{"url":"x","events":["*",1]}`:           `400 invalid_body "/events/1"`,
		`{"description":{}}`:                     `400 invalid_body "/description"`,
		`{}`:                                     `422 validation_failed "/url" "/events"`,
		`{"url":"","events":["*"]}`:              `422 validation_failed "/url"`,
		`{"url":"http://a.example","events":[]}`: `422 validation_failed "/url" "/events"`,
		`{"url":"https://localhost","events":["*"]}`: `422 validation_failed "/url"`,
		withEvents + `["*","user.*","*"]}`:           `422 validation_failed "/events/2"`,
		withEvents + `["User.created","user.created ","connection.*"]}`: `422 validation_failed` +
			` "/events/0" "/events/1" "/events/2"`,
		withEvents + `["*"],"description":"` + long + `"}`:      `422 validation_failed "/description"`,
		withEvents + `["*"],"description":"a\nb"}`:              `422 validation_failed "/description"`,
		withEvents + `["*"],"description":"a\u202eb"}`:          `422 validation_failed "/description"`,
		withEvents + `[` + strings.Repeat(`"*",`, 50) + `"*"]}`: `422 validation_failed "/events"`,
		withEvents + `["` + strings.Repeat("x", 70_000) + `"]}`: `413 body_too_large`,
		strings.Repeat("[", 20_000):                             `400 invalid_body ""`,
		`{"url":` + strings.Repeat("[", 20_000):                 `400 invalid_json "/url` + strings.Repeat("/0", 30) + `…"`,
	} {
		if got := w.do(key, "POST", "/v1/webhooks", body).brief(t); got != want {
			t.Errorf("%.80q\n got %s\nwant %s", body, got, want)
		}
	}
	if len(w.endpoints) != 0 {
		t.Errorf("%d endpoints were made", len(w.endpoints))
	}
}

// The specification has four patterns and no others.
func TestHandler_readNew_namesThePatternsThereAre(t *testing.T) {
	w, key := newTenant(t)
	var got fault
	w.do(key, "POST", "/v1/webhooks", `{"url":"https://a.example","events":["connection.*"]}`).decode(t, &got)
	const want = "is neither an implemented event nor one of the patterns *, user.*, organization.*, " +
		"organizationMembership.*; GET /v1/webhooks/event-types lists both"
	if len(got.Errors) != 1 || got.Errors[0].Detail != want {
		t.Errorf("%+v, want %q", got, want)
	}
}

func TestHandler_readChange_namesEveryPlaceAtFault(t *testing.T) {
	w, key := newTenant(t)
	path := "/v1/webhooks/" + w.create(key).ID
	for body, want := range map[string]string{
		``:                          `415 unsupported_media_type`,
		`null`:                      `400 invalid_body ""`,
		`{"id":"x"}`:                `400 invalid_body "/id"`,
		`{"created_at":"x"}`:        `400 invalid_body "/created_at"`,
		`{"description":null}`:      `400 invalid_body "/description"`,
		`{"status":true}`:           `400 invalid_body "/status"`,
		`{"status":"deleted"}`:      `422 validation_failed "/status"`,
		`{"status":""}`:             `422 validation_failed "/status"`,
		`{"events":[]}`:             `422 validation_failed "/events"`,
		`{"url":"https://a"}`:       `422 validation_failed "/url"`,
		`{"url":"","status":"off"}`: `422 validation_failed "/url" "/status"`,
	} {
		if got := w.do(key, "PATCH", path, body).brief(t); got != want {
			t.Errorf("%q\n got %s\nwant %s", body, got, want)
		}
	}
	w.do(key, "DELETE", path, "")
	if got := w.do(key, "PATCH", path, `{"status":"active"}`).brief(t); got != "409 endpoint_deleted" {
		t.Errorf("changing a deleted endpoint: %s", got)
	}
}

func TestHandler_readNew_countsCharacters(t *testing.T) {
	w, key := newTenant(t)
	url, description := "https://a.example/"+strings.Repeat("x", 2048-18), strings.Repeat("ä", 256)
	body := `{"url":"` + url + `","events":["*"],"description":"` + description + `"}`
	if a := w.do(key, "POST", "/v1/webhooks", body); a.status != 201 {
		t.Errorf("answered %d %s", a.status, a.body)
	}
	padded := valid + strings.Repeat(" ", 65536-len(valid))
	if a := w.do(key, "POST", "/v1/webhooks", padded); a.status != 201 {
		t.Errorf("65536 bytes answered %d %s", a.status, a.body)
	}
	if got := w.do(key, "POST", "/v1/webhooks", padded+" ").brief(t); got != "413 body_too_large" {
		t.Errorf("65537 bytes: %s", got)
	}
}

func TestCall_checkBody_takesJSONOnly(t *testing.T) {
	w, key := newTenant(t)
	for media, status := range map[string]int{
		"application/json": 201, "application/json; charset=utf-8": 201, "Application/JSON": 201, "application/json;": 201,
		"": 415, "text/plain": 415, "application/x-www-form-urlencoded": 415, "application/jsonp": 415, "json": 415,
	} {
		header := http.Header{"Authorization": {"Bearer " + key}}
		if media != "" {
			header.Set("Content-Type", media)
		}
		if a := w.call("POST", "/v1/webhooks", header, []byte(w.fresh())); a.status != status {
			t.Errorf("%q: %d, want %d", media, a.status, status)
		}
	}
}

func TestCheckNoBody_takesNothingOrAnEmptyObject(t *testing.T) {
	w, key := newTenant(t)
	path := "/v1/webhooks/" + w.create(key).ID
	for _, target := range []string{
		"GET " + path, "GET /v1/webhooks", "GET /v1/webhooks/event-types", "GET /v1/event-types",
		"POST " + path + "/rotate-secret", "DELETE " + path, "POST " + path + "/restore",
	} {
		method, target, _ := strings.Cut(target, " ")
		for _, body := range []string{`x`, `[]`, `{"a":1}`, `{}{}`, `{`, `null null`, `nul`, `false`, `""`, "\xff"} {
			if got := w.do(key, method, target, body).brief(t); got != "400 unexpected_body" {
				t.Errorf("%s %s %q: %s", method, target, body, got)
			}
		}
	}
	for _, body := range []string{"", "{}", " {\n} ", "\n", "null", " null\n"} {
		header := http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
		if a := w.call("POST", path+"/rotate-secret", header, []byte(body)); a.status != 200 {
			t.Errorf("%q: %d %s", body, a.status, a.body)
		}
	}
}

func TestCall_readQuery_namesEveryParameterAtFault(t *testing.T) {
	w, key := newTenant(t)
	path := "/v1/webhooks/" + w.create(key).ID
	for target, want := range map[string]string{
		"/v1/webhooks?limit=0":               "400 invalid_query ?limit",
		"/v1/webhooks?limit=101":             "400 invalid_query ?limit",
		"/v1/webhooks?limit=":                "400 invalid_query ?limit",
		"/v1/webhooks?limit=%2B1":            "400 invalid_query ?limit",
		"/v1/webhooks?limit=01":              "400 invalid_query ?limit",
		"/v1/webhooks?limit=1&limit=1":       "400 invalid_query ?limit",
		"/v1/webhooks?status=":               "400 invalid_query ?status",
		"/v1/webhooks?status=Active":         "400 invalid_query ?status",
		"/v1/webhooks?status=not_deleted":    "400 invalid_query ?status",
		"/v1/webhooks?limit=0&status=x":      "400 invalid_query ?limit ?status",
		"/v1/webhooks?page=2":                "400 invalid_query ?page",
		"/v1/webhooks?Limit=2":               "400 invalid_query ?Limit",
		"/v1/webhooks?limit=1;status=active": "400 invalid_query",
		"/v1/webhooks?%zz":                   "400 invalid_query",
		"/v1/webhooks?cursor=":               "400 invalid_cursor ?cursor",
		"/v1/webhooks?cursor=%FF":            "400 invalid_cursor ?cursor",
		path + "?limit=1":                    "400 invalid_query ?limit",
		"/v1/webhooks/event-types?x":         "400 invalid_query ?x",
	} {
		if got := w.do(key, "GET", target, "").brief(t); got != want {
			t.Errorf("%s\n got %s\nwant %s", target, got, want)
		}
	}
	if got := w.do(key, "POST", "/v1/webhooks?limit=1", valid).brief(t); got != "400 invalid_query ?limit" {
		t.Errorf("a query where none is taken: %s", got)
	}
}

func TestCall_find_refusesPathsAndMethodsThatDoNotExist(t *testing.T) {
	w, key := newTenant(t)
	path := "/v1/webhooks/" + w.create(key).ID
	for target, want := range map[string]string{
		"GET /": "404 route_not_found", "GET /v1": "404 route_not_found", "GET /v2/webhooks": "404 route_not_found",
		"GET /v1/webhooks/":             "404 route_not_found",
		"POST " + path + "/":            "404 route_not_found",
		"POST " + path + "/restore/x":   "404 route_not_found",
		"GET " + path + "/deliveries":   "404 route_not_found",
		"POST /v1/webhooks//restore":    "404 route_not_found",
		"PUT /v1/webhooks":              "405 method_not_allowed",
		"DELETE /v1/webhooks":           "405 method_not_allowed",
		"PUT " + path:                   "405 method_not_allowed",
		"GET " + path + "/restore":      "405 method_not_allowed",
		"POST /v1/webhooks/event-types": "405 method_not_allowed",
		"OPTIONS /v1/webhooks":          "405 method_not_allowed",
		"GET /v1/webhooks/webhook_":     "404 endpoint_not_found",
		"GET /v1/webhooks/x":            "404 endpoint_not_found",
		"GET /v1/webhooks/%23counts":    "404 endpoint_not_found",
		"GET /v1/webhooks/#counts":      "404 endpoint_not_found",
		"GET /v1/webhooks/../webhooks":  "404 route_not_found",
		"GET " + strings.ToLower(path):  "404 endpoint_not_found",
		"POST /v1/webhooks/x/restore":   "404 endpoint_not_found",
	} {
		method, target, _ := strings.Cut(target, " ")
		if got := w.do(key, method, target, "").brief(t); got != want {
			t.Errorf("%s %s\n got %s\nwant %s", method, target, got, want)
		}
		if got := w.do("", method, target, "").brief(t); got != "401 unauthenticated" {
			t.Errorf("%s %s without key: %s", method, target, got)
		}
	}
	if allow := w.do(key, "PUT", path, "").header.Get("Allow"); allow != "GET, PATCH, DELETE" {
		t.Errorf("Allow: %s", allow)
	}
}

// internal/cursor has every other way to spoil one.
func TestHandler_list_takesCursorsOfItsTenantAndFilterOnly(t *testing.T) {
	w := newWorld(t)
	key, other := w.issue("acme", apikey.Scopes()...), w.issue("globex", apikey.Scopes()...)
	for range 3 {
		w.create(key)
		w.create(other)
	}
	var p page
	w.do(key, "GET", "/v1/webhooks?limit=1", "").decode(t, &p)
	cursor := "cursor=" + *p.NextCursor
	for name, get := range map[string]answer{
		"another tenant's": w.do(other, "GET", "/v1/webhooks?"+cursor, ""),
		"another filter's": w.do(key, "GET", "/v1/webhooks?status=active&"+cursor, ""),
	} {
		if got := get.brief(t); got != "400 invalid_cursor ?cursor" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if a := w.do(key, "GET", "/v1/webhooks?limit=2&"+cursor, ""); a.status != 200 {
		t.Errorf("its own, another limit: %d %s", a.status, a.body)
	}
}

func TestHandler_Serve_refusesWhatIsNoRequest(t *testing.T) {
	a := newWorld(t).exchange("GET", "/v1/webhooks", nil, nil, []byte(`{"headers":{"a":"1","a":"2"}}`))
	if a.code() != "malformed_request" {
		t.Errorf("answered %d %s", a.status, a.body)
	}
}

func TestHandler_create_keepsToTheLimitOfATenant(t *testing.T) {
	w, key := newTenant(t)
	path := "/v1/webhooks/" + w.create(key).ID
	w.do(key, "DELETE", path, "")
	for range endpoint.MaxLive {
		w.create(key)
	}
	for target, body := range map[string]string{"/v1/webhooks": w.fresh(), path + "/restore": ""} {
		if a := w.do(key, "POST", target, body); a.code() != "endpoint_limit" {
			t.Errorf("%s: %d %s", target, a.status, a.body)
		}
	}
}
