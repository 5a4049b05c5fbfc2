package movein

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/egress"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

const (
	key    = `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`
	secret = `"secret":"` + key + `"`
)

// rules are those of a stack as it is deployed.
func rules(from Source) Rules {
	policy := egress.Policy{}
	return Rules{From: from, URLs: endpoint.URLPolicy{Addr: policy.Addr, Port: policy.Port},
		Bounds: endpoint.Bounds{Live: endpoint.MaxLive, AtSite: 20}}
}

// convert converts a file, and fails the test unless it is JSON.
func convert(t *testing.T, file string, r Rules) (lines []string, report Report) {
	t.Helper()
	text, report, err := Endpoints([]byte(file), r)
	if err != nil {
		t.Fatalf("%.200s: %v", file, err)
	}
	if r.Bounds.AtSite == 20 {
		imports(t, text)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), report
}

// told are the notes about all objects.
func told(report Report) string {
	var b strings.Builder
	for _, o := range report.Objects {
		for _, n := range o.Notes {
			fmt.Fprintf(&b, "%s: %s\n", n.Field, n.Message)
		}
	}
	return b.String()
}

// The answers have the shapes of the senders' own descriptions (November 2026).
func TestEndpoints_convertsAnAnswerOfEachSender(t *testing.T) {
	const want = `{"tenant_id":"acme","url":"https://hooks.example.com/crm","events":["user.created","user.deleted"],` +
		`"description":"crm","headers":{"X-Env":"prod"},"rate_limit":25,"contact":"ann@example.com",` +
		`"metadata":{"plan":"gold"},"status":"disabled","secret":"` + key + `"}`
	for from, file := range map[Source]string{
		Svix: `{"data":[{"id":"ep_1srOrx2ZWZBpBUvZwXKQmoEYga2","url":"https://hooks.example.com/crm","description":"crm",
			"eventTypes":["user.created","user.deleted"],"channels":null,"metadata":{"plan":"gold"},"throttleRate":25,"uid":null,
			"version":1,"disabled":true,"createdAt":"2024-08-24T14:15:22Z","updatedAt":"2024-08-24T14:15:22Z",
			"tenant_id":"acme","secret":{"key":"` + key + `"},"headers":{"headers":{"X-Env":"prod"},"sensitive":[]}}],
			"iterator":"-ep","prevIterator":null,"done":true}`,
		Convoy: `{"status":true,"message":"ok","data":{"content":[{"uid":"01HC","project_id":"01HB","owner_id":"acme",
			"url":"https://hooks.example.com/crm","name":"crm","status":"paused","secrets":[{"uid":"01HD","value":"` + key + `",
			"expires_at":null,"deleted_at":null}],"advanced_signatures":true,"http_timeout":10,"rate_limit":1500,
			"rate_limit_duration":60,"content_type":"application/json","events":12,"failure_rate":0,
			"support_email":"ann@example.com","metadata":{"plan":"gold"},
			"authentication":{"type":"api_key","api_key":{"header_name":"X-Env","header_value":"prod"}}}],
			"pagination":{"has_next_page":false}}}
			{"data":{"content":[{"uid":"01HE","name":"all","type":"api","endpoint_metadata":{"uid":"01HC"},
			"filter_config":{"event_types":["user.created","user.deleted"],"filter":{"body":{},"headers":{},
			"is_flattened":true}},"retry_config":null}]}}`,
		Outpost: `[{"id":"des_1","type":"webhook","topics":["user.created","user.deleted"],"tenant_id":"acme",
			"description":"crm","config":{"url":"https://hooks.example.com/crm","custom_headers":"{\"X-Env\":\"prod\"}"},
			"metadata":{"plan":"gold"},
			"credentials":{"secret":"` + key + `"},"disabled_at":"2024-03-01T12:00:00Z","created_at":"2024-02-15T10:00:00Z",
			"updated_at":"2024-02-15T10:00:00Z","target":"hooks.example.com","target_url":"https://hooks.example.com/crm"}]`,
		Standard: `{"tenant_id":"acme","url":"https://hooks.example.com/crm","event_types":["user.created","user.deleted"],
			"name":"crm","signing_secret":"` + key + `","rate_limit":25,"enabled":false,"headers":{"X-Env":"prod"},
			"contact":"ann@example.com","metadata":{"plan":"gold"}}`,
	} {
		lines, report := convert(t, file, rules(from))
		want := want
		if from == Outpost { // which has no limits
			want = strings.Replace(want, `"rate_limit":25,`, "", 1)
		}
		if from == Svix || from == Outpost { // whose endpoints have no contact
			want = strings.Replace(want, `"contact":"ann@example.com",`, "", 1)
		}
		if diff := cmp.Diff([]string{want}, lines); diff != "" || len(report.Objects[0].Notes) > 0 || report.More {
			t.Errorf("%s (-want +got):\n%s%s", from, diff, told(report))
		}
	}
}

// Threat of another sender: exhausts the machine. Held by: bounds on the file, its objects and their depth.
func TestEndpoints_readsEveryFormOfAFile(t *testing.T) {
	one := func(n int) string {
		return fmt.Sprintf(`{"tenant_id":"acme","url":"https://a.example.com/%d",%s}`, n, secret)
	}
	for name, file := range map[string]string{
		"lines":               one(1) + "\n" + one(2) + "\n",
		"lines of Windows":    one(1) + "\r\n\r\n" + one(2) + "\r\n",
		"a list":              "[" + one(1) + "," + one(2) + "]\n",
		"pages as they came":  `{"data":[` + one(1) + `],"done":false}{"data":[` + one(2) + `],"iterator":"x","done":true}`,
		"pages of pagination": `{"data":{"content":[` + one(1) + `,` + one(2) + `],"pagination":{"has_next_page":false}}}`,
		"a page within lists": `[[{"models":[` + one(1) + `]}],[` + one(2) + `]]`,
		"half of a surrogate": strings.Replace(one(1), `{`, `{"description":"\ud83d",`, 1) + one(2),
		"a name twice":        strings.Replace(one(1), `{`, `{"url":"https://b.example.com/",`, 1) + one(2),
	} {
		lines, report := convert(t, file, rules(Svix))
		if len(lines) != 2 || report.Taken != 2 || report.More || !strings.Contains(lines[0], "https://a.example.com/1") {
			t.Errorf("%s: %q, %+v", name, lines, report)
		}
	}
	for name, file := range map[string]string{
		"Svix":    `{"data":[` + one(1) + `],"done":false}`,
		"Outpost": `{"models":[` + one(1) + `],"pagination":{"next":"MTc="}}`,
		"Convoy":  `{"data":{"content":[` + one(1) + `],"pagination":{"has_next_page":true}}}`,
	} {
		if _, report := convert(t, file, rules(Standard)); !report.More {
			t.Errorf("%s: the page is not the last one: %+v", name, report)
		}
	}
	for file, want := range map[string]string{
		"hush": "no JSON at byte 0, in line 1", one(1) + "\n" + `{"secret":"hush`: "no JSON at byte 118, in line 2",
		"[" + one(1): "no JSON", strings.Repeat("[", 20_000): "no JSON at byte", "{}\x00": "no JSON at byte 2",
		`{"\ud8` + `":1}`: "no JSON at byte",
		"[" + strings.Repeat("{},", maxObjects) + "{}]": "more than 250000 objects",
	} {
		_, _, err := Endpoints([]byte(file), rules(Svix))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%.80q: %v, want %s", file, err, want)
		}
	}
}

// Each object belongs to the tenant acme. Its row has one fault, and is complete otherwise.
func TestEndpoints_leavesOutWhatHeraldCannotHave(t *testing.T) {
	for _, c := range []struct {
		from         Source
		object, want string
	}{
		{Svix, `{"url":"https://a.example.com"}`, "secret: is missing"},
		{Svix, `{"secret":null,"url":"https://a.example.com"}`, "secret: is missing"},
		{Svix, `{` + secret + `}`, "url: is missing"},
		{Svix, `{"url":"http://a.example.com",` + secret + `}`, "url: must start with https://"},
		{Svix, `{"url":"https://a.example.com:8443/x",` + secret + `}`, "url: must use port 443"},
		{Svix, `{"url":"https://10.0.0.5/x",` + secret + `}`, "url: must not name an address that is not publicly"},
		{Svix, `{"url":"https://localhost/x",` + secret + `}`, "url: must not name a local host"},
		{Svix, `{"url":"https://u:hush@a.example.com/x",` + secret + `}`, "url: must not hold a user name"},
		{Svix, `{"url":["hush"],` + secret + `}`, "url: is no text"},
		{Svix, `{"url":"https://a.example.com","secret":"whsk_` + strings.Repeat("hush", 21) + `AA"}`, "asymmetric"},
		{Svix, `{"url":"https://a.example.com","secret":"whpk1_` + strings.Repeat("hush", 10) + `hus="}`, "asymmetric"},
		{Svix, `{"url":"https://a.example.com","secret":"whsec_hush"}`, "secret: must be a key of 16 to 1024 bytes"},
		{Svix, `{"url":"https://a.example.com","secret":"hush hush hush hush "}`, "secret: must not have spaces"},
		{Svix, `{"url":"https://a.example.com","eventTypes":["invoice.paid"],` + secret + `}`, "events: none of them"},
		{Svix, `{"url":"https://a.example.com","eventTypes":[],` + secret + `}`, "events: none of them"},
		{Svix, `{"url":"https://a.example.com","eventTypes":{},` + secret + `}`, "eventTypes: is no list of names"},
		{Svix, `{"code":"rate_limited","detail":"hush"}`, "url: is missing"},
		{Svix, `"hush"`, "is no object"},
		{Svix, `17`, "is no object"},
		{Convoy, `{"url":"https://a.example.com",` + secret + `}`, "event_types: no subscription"},
		{Outpost, `{"type":"aws_sqs","config":{"queue_url":"https://sqs.example.com/hush"}}`, "type: is no webhook"},
	} {
		r := rules(c.from)
		r.Tenant = "acme"
		_, report := convert(t, c.object, r)
		if notes := told(report); report.Taken > 0 || !report.Objects[0].LeftOut || !strings.Contains(notes, c.want) ||
			strings.Contains(notes, "hush") {
			t.Errorf("%s %s: want %q, and nothing hush:\n%s", c.from, c.object, c.want, notes)
		}
	}
}

func TestEndpoints_reportsWhatHasNoPlace(t *testing.T) {
	for _, c := range []struct {
		from         Source
		fields, want string
	}{
		{Svix, `"channels":["project_1"]`, "channels: Herald has no channels"},
		{Svix, `"uid":"crm"`, "uid: Herald makes the ids"},
		{Svix, `"metadata":{"plan":7,"a":"hush"}`, "metadata.plan: is no text, and left out"},
		{Svix, `"metadata":{"plan":"a\u001bhush"}`, "metadata.plan: is left out: metadata must not have control"},
		{Outpost, `"topics":"*","metadata":{"a":"1","b":"` + strings.Repeat("v", 2046) + `","c":"hush"}`,
			"metadata.b: is left out: metadata must have at most 2048 bytes"},
		{Svix, `"metadata":["hush"]`, "metadata: is no object of texts"},
		{Convoy, `"event_types":["*"],"support_email":"a\r\nBcc: hush"`, "contact: must not have control characters"},
		{Svix, `"filterTypes":null`, "events: none is named, which means all: *"},
		{Svix, `"filterTypes":["user.created","user.signup"]`, "events: user.signup is not in the catalogue, and left out"},
		{Svix, `"headers":{"headers":{},"sensitive":["Authorization"]}`, "headers.Authorization: cannot be read back"},
		{Svix, `"headers":{"X-A":"1","Webhook-Id":"hush"}`, "headers.Webhook-Id: is a header that Herald or HTTP sets"},
		{Svix, `"headers":{"X-A":"ü hush"}`, "headers.X-A: must be printable ASCII on one line"},
		{Svix, `"headers":{"X-A":"hush","x_a":"hush"}`, "headers.x_a: is left out: case"},
		{Svix, `"headers":{"X-A":["hush"]}`, "headers.X-A: is no text"},
		{Svix, `"headers":["hush"]`, "headers: are no headers"},
		{Svix, `"description":"a\u202eb\u0007"`, "description: control characters"},
		{Svix, `"description":"` + strings.Repeat("ü", 300) + `"`, "description: is cut at 256"},
		{Svix, `"description":7`, "description: is no text"},
		{Svix, `"shiny":{"new":"hush"}`, "shiny: is not known here, and left out"},
		{Outpost, `"config":{"url":"https://a.example.com","shiny":1},"topics":"*"`, "config.shiny: is not known here"},
		{Outpost, `"topics":["organization*","user.created"]`, "events: organization* is no pattern here"},
		{Outpost, `"topics":"*","filter":{"data":{"amount":{"$gte":1}}}`, "filter: Herald chooses by event type alone"},
		{Outpost, `"topics":"*","delivery_metadata":{"app":"hush"}`, "delivery_metadata: Herald adds none"},
		{Outpost, `"topics":"*","credentials":{"previous_secret":"hush"}`, "credentials.previous_secret: the newest"},
		{Convoy, `"event_types":["*"],"slack_webhook_url":"https://hush"`, "slack_webhook_url: notices"},
		{Convoy, `"event_types":["*"],"content_type":"application/x-www-form-urlencoded"`, "content_type: Herald sends"},
		{Convoy, `"event_types":["*"],"authentication":{"type":"basic_auth","basic_auth":{"username":"hush"}}`,
			"authentication.basic_auth: cannot be read back"},
		{Convoy, `"event_types":["*"],"authentication":{"type":"oauth2","oauth2":{"client_secret":"hush"}}`,
			"authentication.oauth2: cannot be read back"},
		{Convoy, `"event_types":["*"],"authentication":{"type":"oauth2","oauth2":{"url":"http://id.example/","client_id":"a",
			"client_secret":"hush"}}`, "authentication.oauth2: must start with https"},
		{Convoy, `"event_types":["*"],"authentication":{"type":"oauth2","oauth2":{"url":"https://id.example/","client_id":"a",
			"authentication_type":"client_assertion"}}`, "authentication.oauth2: Herald has client secrets alone"},
		{Convoy, `"event_types":["*"],"secrets":[{"value":"hush 1"},{"value":"hush 2"}]`, "secrets: the newest secret alone"},
		{Svix, `"headers":{"H1":"1","H2":"1","H3":"1","H4":"1","H5":"1","H6":"1","H7":"1","H8":"1","H9":"hush"}`,
			"headers.H9: is left out: an endpoint has 8 headers"},
		{Svix, `"headers":{"H1":"` + strings.Repeat("x", 3000) + `","H2":"` + strings.Repeat("x", 100) + `"}`,
			"headers.H2: is left out: an endpoint has 8 headers, of 3072 bytes together"},
		{Convoy, `"event_types":["*"],"authentication":{"api_key":{"header_name":"X-A","header_value":"[REDACTED]"}}`,
			"authentication.api_key: cannot be read back"},
	} {
		r := rules(c.from)
		r.Tenant = "acme"
		file := `{"url":"https://a.example.com",` + secret + `,` + c.fields + `}`
		lines, report := convert(t, file, r)
		if notes := told(report); report.Taken != 1 || !strings.Contains(notes, c.want) || strings.Contains(notes, "hush") {
			t.Errorf("%s %s: %q, want %q, and nothing hush:\n%s", c.from, c.fields, lines, c.want, notes)
		}
	}
}

// A secret of Convoy that is rolled has an end; the other one stays.
func TestEndpoints_takesTheSecretThatStays(t *testing.T) {
	for _, c := range []struct{ secrets, want string }{
		{`[{"value":"old0 old1 old2 old3"},{"value":"` + key + `"}]`, key},
		{`[{"value":"old0 old1 old2 old3","expires_at":"2026-12-01T00:00:00Z"},{"value":"` + key + `"}]`, key},
		{`[{"value":"` + key + `"},{"value":"old0 old1 old2 old3","expires_at":"2026-12-01T00:00:00Z"}]`, key},
		{`[{"value":"` + key + `"},{"value":"old0 old1 old2 old3","deleted_at":"2026-12-01T00:00:00Z"}]`, key},
	} {
		lines, report := convert(t, `{"owner_id":"acme","url":"https://a.example.com","event_types":["*"],"secrets":`+
			c.secrets+`}`, rules(Convoy))
		if !strings.Contains(lines[0], c.want) {
			t.Errorf("%s: %q\n%s", c.secrets, lines, told(report))
		}
	}
}

// A secret's text is what its receivers have, and signs as they read it.
func TestEndpoints_changesNoSecret(t *testing.T) {
	for from := range readers {
		for _, secret := range []string{key, strings.TrimPrefix(key, "whsec_"), "sk_live_0a8f2b1c4d5e4f6a", key + "AA=="} {
			lines, report := convert(t, of(from, `"secret":"`+secret+`"`), rules(from))
			if !strings.Contains(lines[0], `"secret":"`+secret+`"`) || strings.Contains(told(report), "secret") {
				t.Errorf("%s: %q, want %s\n%s", from, lines, secret, told(report))
			}
		}
	}
}

func TestEndpoints_joinsSubscriptions(t *testing.T) {
	subscription := func(types, more string) string {
		return `{"uid":"s","endpoint_metadata":{"uid":"e","owner_id":"acme","url":"https://a.example.com",
			"secrets":[{"value":"` + key + `"}]},"filter_config":{"event_types":` + types + `}` + more + `}`
	}
	lines, report := convert(t, subscription(`["user.created"]`, `,"function":"hush"`)+
		subscription(`["user.created","user.deleted"]`, `,"rate_limit_config":{"count":9}`)+
		subscription(`["organization.created"]`, `,"deleted_at":"2026-01-01T00:00:00Z"`), rules(Convoy))
	want := `"events":["user.created","user.deleted"]`
	if len(lines) != 1 || !strings.Contains(lines[0], want) {
		t.Errorf("%q, want one with %s\n%s", lines, want, told(report))
	}
	_, filtered := convert(t, subscription(`["*"],"filter":{"body":{"amount":1}}`, ``), rules(Convoy))
	if want := "subscription.filter_config.filter: Herald chooses"; !strings.Contains(told(filtered), want) {
		t.Errorf("want %s:\n%s", want, told(filtered))
	}
	for _, want := range []string{"subscription.function: Herald sends the data as", "subscription.rate_limit_config: "} {
		if !strings.Contains(told(report), want) {
			t.Errorf("want %s:\n%s", want, told(report))
		}
	}
	lines, _ = convert(t, subscription(`null`, ``), rules(Convoy)) // which Convoy takes for all
	if !strings.Contains(lines[0], `"events":["*"]`) {
		t.Error(lines)
	}
}

func TestMatching(t *testing.T) {
	for pattern, want := range map[string]int{
		"user.*": 7, "organization.*": 11, "*.created": 6, "user.*ed": 7, "*": 26, "**": 26, "user*created": 1, "u*r.*c*d": 2,
		"*.nothing": 0, "user.created": 0, "*user.created*": 1, "user.created*user.created": 0, "": 0,
	} {
		if got := matching(pattern); len(got) != want {
			t.Errorf("%q: %v, want %d", pattern, got, want)
		}
	}
}
