package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/rules/problem"
	"github.com/herald-webhooks/herald/internal/tenants/webhooks"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

func load(t *testing.T) *Contract {
	t.Helper()
	c, err := Load("../../../infra/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// routes are the documented operations, "GET /v1/webhooks/{id}".
func routes(c *Contract) (keys []string) {
	for path, item := range c.document.Paths.Map() {
		for method := range item.Operations() {
			keys = append(keys, method+" "+path)
		}
	}
	slices.Sort(keys)
	return keys
}

func TestTheDescriptionAndTheHandlerHaveTheSameRoutes(t *testing.T) {
	handled := webhooks.Routes()
	slices.Sort(handled)
	if documented := routes(load(t)); !slices.Equal(documented, handled) {
		t.Errorf("documented %v\nhandled    %v", documented, handled)
	}
}

func readTemplate(t *testing.T) cfn.Template {
	t.Helper()
	template, err := cfn.Read("../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func TestTheTemplateHasTheSameRoutesAndACatchAll(t *testing.T) {
	template := readTemplate(t)
	var templates []string
	catchAll := false
	for name, e := range cfn.At(template.Resources["WebhooksFunction"].Properties, "Events") {
		p := cfn.At(e.(cfn.Object), "Properties")
		switch {
		case e.(cfn.Object)["Type"] != "HttpApi":
			t.Errorf("%s is an event of %v", name, e)
		case p["Method"] == nil && p["Path"] == nil:
			catchAll = true
		default:
			templates = append(templates, fmt.Sprint(p["Method"], " ", p["Path"]))
		}
	}
	slices.Sort(templates)
	if documented := routes(load(t)); !slices.Equal(documented, templates) || !catchAll {
		t.Errorf("documented %v\ntemplate   %v, catch-all: %v", documented, templates, catchAll)
	}
}

// A flood of a route that needs no key costs little. No other route gets less than the API's rate.
//
// Threat of a stranger: floods the API through them. Held by: a throttle for each route; a read a minute for an
// endpoint.
func TestRoutesWithoutAKeyAloneHaveThrottles(t *testing.T) {
	template := readTemplate(t)
	number := func(v any) int {
		n, err := strconv.Atoi(fmt.Sprint(v))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	api := template.Resources["HttpApi"].Properties
	parameter, _ := cfn.At(api, "DefaultRouteSettings", "ThrottlingRateLimit")["Ref"].(string)
	most := number(template.Parameters[parameter]["Default"]) / 2
	var open, throttled []string
	for path, item := range load(t).document.Paths.Map() {
		for method, o := range item.Operations() {
			if o.Security != nil && len(*o.Security) == 0 {
				open = append(open, method+" "+path)
			}
		}
	}
	for route, limits := range cfn.At(api, "RouteSettings") {
		throttled = append(throttled, route)
		if rate := number(limits.(cfn.Object)["ThrottlingRateLimit"]); rate > most {
			t.Errorf("%s takes %d requests a second, want %d at most", route, rate, most)
		}
	}
	slices.Sort(open)
	slices.Sort(throttled)
	if !slices.Equal(open, throttled) {
		t.Errorf("without a key %v\nthrottled     %v", open, throttled)
	}
}

// exampleOfAnEndpoint is the first endpoint in the description's example of a list, so that a new field needs no sample
// here.
func exampleOfAnEndpoint(t *testing.T, c *Contract) string {
	t.Helper()
	answers := c.document.Paths.Value("/v1/webhooks").Get.Responses.Value("200").Value.Content["application/json"].Examples
	page, _ := answers["last"].Value.Value.(map[string]any)
	data, _ := page["data"].([]any)
	if len(data) == 0 {
		t.Fatalf("the example of a list has no endpoint: %v", page)
	}
	text, err := json.Marshal(data[0], json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWhatIsNotDocumentedIsFound(t *testing.T) {
	c := load(t)
	endpoint := exampleOfAnEndpoint(t, c)
	missing := string(problem.New(problem.CodeEndpointNotFound).Document("r"))
	base := Exchange{Method: "GET", Target: "/v1/webhooks/webhook_01JB3ZKX9M4W0S5V7N2Q8R6TYA", Status: 200,
		ResponseBody: []byte(endpoint)}
	for name, test := range map[string]struct {
		change func(*Exchange)
		found  string
	}{
		"as documented":  {func(*Exchange) {}, ""},
		"another status": {func(x *Exchange) { x.Status = 202 }, "status"},
		"a secret where none is": {func(x *Exchange) {
			x.ResponseBody = []byte(endpoint[:len(endpoint)-1] + `,"signing_secret":"x"}`)
		}, "signing_secret"},
		"a status that is not listed": {func(x *Exchange) {
			x.ResponseBody = []byte(strings.Replace(endpoint, `"active"`, `"paused"`, 1))
		}, "status"},
		"an event that is not listed": {func(x *Exchange) {
			x.ResponseBody = []byte(strings.Replace(endpoint, `["*"]`, `["user.renamed"]`, 1))
		}, "events"},
		"a field too few": {func(x *Exchange) {
			x.ResponseBody = []byte(strings.Replace(endpoint, `"description":"CRM sync",`, "", 1))
		}, "description"},
		"a time of another form": {func(x *Exchange) {
			x.ResponseBody = []byte(strings.Replace(endpoint, ".000Z", "Z", 1))
		}, "created_at"},
		"another content type": {func(x *Exchange) { x.ResponseHeader.Set("Content-Type", "text/plain") },
			"text/plain"},
		"no request id":             {func(x *Exchange) { x.ResponseHeader.Del("X-Request-Id") }, "X-Request-Id"},
		"an unknown path answered":  {func(x *Exchange) { x.Target = "/v1/other" }, "not documented"},
		"an undocumented parameter": {func(x *Exchange) { x.Target = "/v1/webhooks?limit=101" }, "limit"},
		"a code of another status": {func(x *Exchange) {
			x.Status, x.ResponseBody = 409, []byte(missing)
			x.Method = "DELETE"
			x.ResponseHeader.Set("Content-Type", "application/problem+json")
		}, "409"},
		"a code of another operation": {func(x *Exchange) {
			x.Status, x.ResponseBody = 400, problem.New(problem.CodeInvalidCursor).Document("r")
			x.ResponseHeader.Set("Content-Type", "application/problem+json")
		}, "invalid_cursor"},
		"a problem as documented": {func(x *Exchange) {
			x.Status, x.ResponseBody = 404, []byte(missing)
			x.ResponseHeader.Set("Content-Type", "application/problem+json")
		}, ""},
	} {
		x := base
		x.ResponseHeader = http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"r"}}
		test.change(&x)
		err := c.Check(x)
		if test.found == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.found) {
			t.Errorf("%s: %v, want %s found", name, err, test.found)
		}
	}
}

func TestEveryCodeIsDocumentedWithItsMeaning(t *testing.T) {
	text := load(t).document.Components.Schemas["Problem"].Value.Description
	for _, code := range problem.Codes() {
		row := "`" + string(code) + "` | " + code.Meaning()
		if !strings.Contains(text, row) {
			t.Errorf("the schema Problem does not say: %s", row)
		}
	}
	if rows := strings.Count(text, "\n| "); rows != len(problem.Codes())+2 {
		t.Errorf("%d rows for %d codes", rows, len(problem.Codes()))
	}
}

// A client that keeps to the description can send back whatever an endpoint may have: names and wildcards of this
// version, of another one, or of a catalogue that has since lost them.
func TestThePublishedRequestTakesNamesOfAnyCatalogue(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromFile("../../../infra/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"user.created": true, "*": true, "user.*": true, "user.signed_in": true, "account.*": true, "user_v2.created": true,
		"organization.domain.verified": true, "1.5": true,
		"": false, "user": false, "*.created": false, "user.*.created": false, "user.": false, ".*": false, "a b.c": false,
		"a." + strings.Repeat("b", 63): false,
	} {
		body := map[string]any{"url": "https://example.com/hooks", "events": []any{name}}
		for _, of := range []string{"NewEndpoint", "EndpointChange"} {
			err := document.Components.Schemas[of].Value.VisitJSON(body, openapi3.EnableJSONSchema2020())
			if (err == nil) != want {
				t.Errorf("%s of %q: %v", of, name, err)
			}
		}
	}
}
