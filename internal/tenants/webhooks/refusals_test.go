package webhooks

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
	"github.com/herald-webhooks/herald/internal/rules/event"
)

// fault is the content of a problem document.
type fault struct {
	Code   string `json:"code"`
	Errors []struct {
		Pointer   *string `json:"pointer"`
		Parameter string  `json:"parameter"`
		Detail    string  `json:"detail"`
	} `json:"errors"`
}

// brief is the status and, of a problem, its code and places: "400 invalid_body /url ?limit".
func (a answer) brief() string {
	var f fault
	_ = json.Unmarshal(a.body, &f) // of another answer, the contract says more
	text := strings.TrimSpace(fmt.Sprint(a.status, " ", f.Code))
	for _, e := range f.Errors {
		if e.Pointer != nil {
			text += fmt.Sprintf(" %q", *e.Pointer)
		} else {
			text += " ?" + e.Parameter
		}
	}
	return text
}

// expect fails the test unless an answer is as expected, in brief.
func (w *rig) expect(what, want string, a answer) {
	w.t.Helper()
	if got := a.brief(); got != want {
		w.t.Errorf("%.80s\n got %s\nwant %s\n%s", what, got, want, a.body)
	}
}

// expectBodies sends each body, and expects the answer that stands with it.
func (w *rig) expectBodies(key, method, target string, wants map[string]string) {
	w.t.Helper()
	for body, want := range wants {
		w.expect(body, want, w.do(key, method, target, body))
	}
}

func TestHandler_readNew_namesEveryPlaceAtFault(t *testing.T) {
	w, key := newTenant(t)
	const withEvents = `{"url":"https://a.example","events":`
	long := strings.Repeat("ä", 256)
	longest := withURL("https://a.example/" + strings.Repeat("x", 2048-18))
	padded := valid + strings.Repeat(" ", 65536-len(valid))
	w.expectBodies(key, "POST", "/v1/webhooks", map[string]string{
		``:                                       `415 unsupported_media_type`,
		` `:                                      `400 invalid_json ""`,
		`{`:                                      `400 invalid_json ""`,
		`{"url"`:                                 `400 invalid_json "/url"`,
		valid + `x`:                              `400 invalid_json ""`,
		`{"url":"a","url":"b"}`:                  `400 invalid_json "/url"`,
		"{\"url\":\"\xff\"}":                     `400 invalid_json "/url"`,
		`null`:                                   `400 invalid_body ""`,
		`{"url":"\ud83d"}`:                       `400 invalid_json "/url"`,
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
		withEvents + `["*"],"description":"` + long + `"}`:      `201`,
		withEvents + `["*"],"description":"ä` + long + `"}`:     `422 validation_failed "/description"`,
		withEvents + `["*"],"description":"a\nb"}`:              `422 validation_failed "/description"`,
		withEvents + `["*"],"description":"a\u202eb"}`:          `422 validation_failed "/description"`,
		withEvents + `[` + strings.Repeat(`"*",`, 50) + `"*"]}`: `422 validation_failed "/events"`,
		longest:                                 `201`,
		strings.Replace(longest, "x", "xx", 1):  `422 validation_failed "/url"`,
		padded:                                  `201`,
		padded + " ":                            `413 body_too_large`,
		strings.Repeat("[", 20_000):             `400 invalid_body ""`,
		`{"url":` + strings.Repeat("[", 20_000): `400 invalid_json "/url` + strings.Repeat("/0", 30) + `…"`,
	})
	if len(w.aws.Endpoints) != 3 {
		t.Errorf("%d endpoints were made", len(w.aws.Endpoints))
	}
}

// The specification has four patterns and no others.
func TestHandler_readNew_namesThePatternsThereAre(t *testing.T) {
	w, key := newTenant(t)
	var got fault
	w.do(key, "POST", "/v1/webhooks", `{"url":"https://a.example","events":["connection.*"]}`).decode(t, &got)
	const want = "unknown event type; GET /v1/event-types lists all, with the patterns *, user.*, organization.*, " +
		"organizationMembership.*"
	if len(got.Errors) != 1 || got.Errors[0].Detail != want {
		t.Errorf("%+v, want %q", got, want)
	}
}

// A tenant who misspells a name is told the same as a publisher.
func TestHandler_readNew_suggestsTheNearestEvents(t *testing.T) {
	w, key := newTenant(t)
	var got fault
	w.do(key, "POST", "/v1/webhooks", `{"url":"https://a.example","events":["*","user.creatd"]}`).decode(t, &got)
	const want = "unknown event type; GET /v1/event-types lists all, with the patterns *, user.*, organization.*, " +
		"organizationMembership.*; did you mean user.created, user.updated or user.deleted?"
	if len(got.Errors) != 1 || got.Errors[0].Detail != want {
		t.Errorf("%+v, want %q", got, want)
	}
}

// A catalogue may declare 50 wildcards, and an import have 500 names that are refused.
func TestNotSubscribable_isShortWithAsManyPatternsAsThereCanBe(t *testing.T) {
	patterns := event.Patterns()
	for n := range 50 {
		patterns = append(patterns, fmt.Sprintf("account%02d%s.*", n, strings.Repeat("x", 53)))
	}
	patterns[len(patterns)-1] = "account.*"
	const want = "unknown event type; GET /v1/event-types lists all, with the patterns *, user.*, organization.*, " +
		"organizationMembership.*, "
	got := notSubscribable("acount.*", patterns)
	if !strings.HasPrefix(got, want) ||
		!strings.HasSuffix(got, " and 46 others; did you mean account.*?") {
		t.Errorf("%q", got)
	}
	if len(got) > 600 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestHandler_readNew_saysWhereASurrogateHasNoOtherHalf(t *testing.T) {
	w, key := newTenant(t)
	var got fault
	w.do(key, "POST", "/v1/webhooks", `{"url":"https://a.example","description":"cut \ud83d"}`).decode(t, &got)
	const want = "has a surrogate without its other half at byte 46 of the body"
	if len(got.Errors) != 1 || got.Errors[0].Detail != want {
		t.Errorf("%+v, want %q", got, want)
	}
}

func TestHandler_readChange_namesEveryPlaceAtFault(t *testing.T) {
	w, key := newTenant(t)
	path := "/v1/webhooks/" + w.create(key).ID
	w.expectBodies(key, "PATCH", path, map[string]string{
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
	})
	w.do(key, "DELETE", path, "")
	w.expectBodies(key, "PATCH", path, map[string]string{`{"status":"active"}`: "409 endpoint_deleted"})
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
			t.Errorf("%q: %s, want %d", media, a.brief(), status)
		}
	}
}

func TestCheckNoBody_takesNothingOrAnEmptyObject(t *testing.T) {
	w, key := newTenant(t)
	path := "/v1/webhooks/" + w.create(key).ID
	for _, target := range []string{
		"GET " + path, "GET /v1/webhooks", "GET /v1/event-types",
		"DELETE " + path, "POST " + path + "/restore",
	} {
		method, target, _ := strings.Cut(target, " ")
		for _, body := range []string{`x`, `[]`, `{"a":1}`, `{}{}`, `{`, `null null`, `nul`, `false`, `""`, "\xff"} {
			w.expect(method+" "+target+" "+body, "400 unexpected_body", w.do(key, method, target, body))
		}
	}
	for _, body := range []string{"", "{}", " {\n} ", "\n", "null", " null\n"} {
		header := http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
		w.expect(body, "200", w.call("POST", path+"/rotate-secret", header, []byte(body)))
	}
}

func TestCall_saysWhatIsWrongWithPathMethodAndQuery(t *testing.T) {
	w, key := newTenant(t)
	path := "/v1/webhooks/" + w.create(key).ID
	for target, want := range map[string]string{
		"GET /": "404 route_not_found", "GET /v1": "404 route_not_found", "GET /v2/webhooks": "404 route_not_found",
		"GET /v1/webhooks/":            "404 route_not_found",
		"POST " + path + "/":           "404 route_not_found",
		"POST " + path + "/restore/x":  "404 route_not_found",
		"GET " + path + "/deliveries":  "404 route_not_found",
		"POST /v1/webhooks//restore":   "404 route_not_found",
		"DELETE /v1/webhooks":          "405 method_not_allowed",
		"PUT " + path:                  "405 method_not_allowed",
		"GET " + path + "/restore":     "405 method_not_allowed",
		"POST /v1/event-types":         "405 method_not_allowed",
		"OPTIONS /v1/webhooks":         "405 method_not_allowed",
		"GET /v1/webhooks/webhook_":    "404 endpoint_not_found",
		"GET /v1/webhooks/x":           "404 endpoint_not_found",
		"GET /v1/webhooks/%23counts":   "404 endpoint_not_found",
		"GET /v1/webhooks/#counts":     "404 endpoint_not_found",
		"GET /v1/webhooks/../webhooks": "404 route_not_found",
		"GET " + strings.ToLower(path): "404 endpoint_not_found",
		"POST /v1/webhooks/x/restore":  "404 endpoint_not_found",

		"POST /v1/webhooks?limit=1":              "400 invalid_query ?limit",
		"GET /v1/webhooks?limit=0":               "400 invalid_query ?limit",
		"GET /v1/webhooks?limit=101":             "400 invalid_query ?limit",
		"GET /v1/webhooks?limit=":                "400 invalid_query ?limit",
		"GET /v1/webhooks?limit=%2B1":            "400 invalid_query ?limit",
		"GET /v1/webhooks?limit=01":              "400 invalid_query ?limit",
		"GET /v1/webhooks?limit=1&limit=1":       "400 invalid_query ?limit",
		"GET /v1/webhooks?status=":               "400 invalid_query ?status",
		"GET /v1/webhooks?status=Active":         "400 invalid_query ?status",
		"GET /v1/webhooks?status=not_deleted":    "400 invalid_query ?status",
		"GET /v1/webhooks?limit=0&status=x":      "400 invalid_query ?limit ?status",
		"GET /v1/webhooks?page=2":                "400 invalid_query ?page",
		"GET /v1/webhooks?Limit=2":               "400 invalid_query ?Limit",
		"GET /v1/webhooks?limit=1;status=active": "400 invalid_query",
		"GET /v1/webhooks?%zz":                   "400 invalid_query",
		"GET /v1/webhooks?cursor=":               "400 invalid_cursor ?cursor",
		"GET /v1/webhooks?cursor=%FF":            "400 invalid_cursor ?cursor",
		"GET " + path + "?limit=1":               "400 invalid_query ?limit",
		"GET /v1/event-types?x":                  "400 invalid_query ?x",
		"GET /v1/webhooks/event-types":           "404 endpoint_not_found",
	} {
		method, target, _ := strings.Cut(target, " ")
		w.expect(method+" "+target, want, w.do(key, method, target, ""))
		w.expect(method+" "+target+" without key", "401 unauthenticated", w.do("", method, target, ""))
	}
	if allow := w.do(key, "PUT", path, "").header.Get("Allow"); allow != "GET, PATCH, DELETE" {
		t.Errorf("Allow: %s", allow)
	}
}

func TestHandler_create_keepsToTheLimitOfATenant(t *testing.T) {
	w, key := newTenant(t)
	path := "/v1/webhooks/" + w.create(key).ID
	w.do(key, "DELETE", path, "")
	for range endpoint.MaxLive {
		w.create(key)
	}
	w.expect("one more", "409 endpoint_limit", w.do(key, "POST", "/v1/webhooks", w.fresh()))
	w.expect("a restore", "409 endpoint_limit", w.do(key, "POST", path+"/restore", ""))
}

// A compressed body is named as what it is, on every route with a body. It is not malformed JSON.
func TestCall_checkBody_refusesEncodedBodies(t *testing.T) {
	w, key := newTenant(t)
	path := "/v1/webhooks/" + w.create(key).ID
	var compressed bytes.Buffer
	zip := gzip.NewWriter(&compressed)
	_, err := zip.Write([]byte(valid))
	if err = errors.Join(err, zip.Close()); err != nil {
		t.Fatal(err)
	}
	for _, encoding := range []string{"gzip", "GZIP", " x-gzip", "br", "zstd", "aws-chunked", "identity, gzip"} {
		header := http.Header{
			"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}, "Content-Encoding": {encoding},
		}
		for route, method := range map[string]string{
			"/v1/webhooks": "POST", path: "PATCH", path + "/rotate-secret": "POST", path + "/test": "POST",
		} {
			a := w.call(method, route, header, compressed.Bytes())
			w.expect(encoding+" "+route, "415 unsupported_media_type", a)
			if !strings.Contains(string(a.body), "Content-Encoding") {
				t.Errorf("%s: %s", encoding, a.body)
			}
		}
	}
	for _, encoding := range []string{"", "identity", "Identity", "UTF-8"} {
		header := http.Header{
			"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}, "Content-Encoding": {encoding},
		}
		if a := w.call("POST", "/v1/webhooks", header, []byte(w.fresh())); a.status != http.StatusCreated {
			t.Errorf("%q: %d %s", encoding, a.status, a.body)
		}
	}
}
