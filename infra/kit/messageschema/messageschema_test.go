package messageschema_test

import (
	"os"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/kit/cataloguefile"
	"github.com/herald-webhooks/herald/infra/kit/messageschema"
	"github.com/herald-webhooks/herald/infra/tool/checkevents"
	"github.com/herald-webhooks/herald/internal/rules/event"
	"github.com/herald-webhooks/herald/internal/rules/schema"
)

// judges are the schema and the check of the specification's types with those of the example.
func judges(t *testing.T) (*schema.Schema, *checkevents.Checker) {
	t.Helper()
	text, err := os.ReadFile("../../examples/catalogue.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tables, err := cataloguefile.Read("catalogue.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	made, err := messageschema.Of(tables.Types())
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := schema.Compile(string(made))
	if err != nil {
		t.Fatal(err)
	}
	checker, err := checkevents.New(tables.Specified, tables.Own, true)
	if err != nil {
		t.Fatal(err)
	}
	return compiled, checker
}

// Every combination of good and bad fields: the schema takes what the check takes, and nothing else.
func TestOf_agreesWithDecode(t *testing.T) {
	long := strings.Repeat("x", 128)
	fields := [][]string{
		{"", `"id":null,`, `"id":"e 1~",`, `"id":"",`, `"id":"é",`, `"id":5,`,
			`"id":"` + long + `",`, `"id":"x` + long + `",`},
		{"", `"tenant_id":"a.b:1@c|d+e=f~-_",`, `"tenant_id":"..",`, `"tenant_id":".",`, `"tenant_id":"...",`,
			`"tenant_id":"a b",`, `"tenant_id":null,`, `"tenant_id":"",`},
		{"", `"type":"user.created",`, `"type":"order.shipped",`, `"type":"connection.saml_certificate_renewed",`,
			`"type":"user.create",`, `"type":null,`, `"Type":"user.created",`},
		{"", `"occurred_at":null,`, `"occurred_at":"2026-11-28T12:00:00.123456789+23:59",`,
			`"occurred_at":"2026-11-28t12:00:60z",`, `"occurred_at":"2026-11-28 12:00:00Z",`, `"occurred_at":"",`,
			`"occurred_at":1,`, `"occurred_at":"2026-11-28T12:00:00+24:00",`, `"occurred_at":"2026-11-28T12:00:00,1Z",`},
		{`"more":1`, `"data":{"userId":"user_1"}`, `"data":{"userId":"usr_1"}`, `"data":{}`, `"data":[]`, `"data":"{}"`,
			`"data":{"orderId":"ord_1","items":[{"sku":"a","quantity":1}]}`,
			`"data":{"orderId":"ord_1","items":[{"sku":"a","quantity":0}]}`},
	}
	fields[3][3] = `"occurred_at":"2026-11-28t23:59:60z",`
	compiled, checker := judges(t)
	taken := 0
	each(fields, "", func(body string) {
		_, byShape := compiled.Check([]byte("{"+body+"}"), schema.NoLimit)
		byRules := checker.Message([]byte("{" + body + "}"))
		if (byShape == nil) != (byRules == nil) {
			t.Errorf("{%s}: the schema says %v, the check %v", body, byShape, byRules)
		}
		if byRules == nil {
			taken++
		}
	})
	if taken < 50 {
		t.Errorf("only %d messages are good", taken)
	}
}

// each calls do with each combination of one of each.
func each(fields [][]string, begun string, do func(string)) {
	if len(fields) == 0 {
		do(begun)
		return
	}
	for _, one := range fields[0] {
		each(fields[1:], begun+one, do)
	}
}

// What no schema of ours says. The check does.
func TestOf_isSilentAboutTheRest(t *testing.T) {
	compiled, checker := judges(t)
	const head = `{"tenant_id":"t","type":"user.created",`
	for name, body := range map[string]string{
		"a day that does not exist":   head + `"occurred_at":"2026-02-30T00:00:00Z","data":{"userId":"user_1"}}`,
		"a second that is no leap":    head + `"occurred_at":"2026-02-01T12:00:60Z","data":{"userId":"user_1"}}`,
		"nothing after user_":         head + `"data":{"userId":"user_"}}`,
		"more than EventsQueue takes": head + `"data":{"userId":"user_` + strings.Repeat("1", event.MaxBody) + `"}}`,
	} {
		if _, err := compiled.Check([]byte(body), schema.NoLimit); err != nil {
			t.Errorf("%s: the schema says %v", name, err)
		}
		if checker.Message([]byte(body)) == nil {
			t.Errorf("%s: the check says nothing", name)
		}
	}
}
