package commands

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

// steering is a text of a tenant, a publisher or a receiver that would clear a screen, forge a line, reorder one, or be
// taken for another.
const steering = "a\x1b[2J\x1b]0;root\x07\r\nnext: herald tenants erase b\u202e\u2028\u200b\u3164\x00\x7f\u0085"

// hostile is every answer, with that text wherever one may stand.
func hostile(t *testing.T) string {
	t.Helper()
	row := answers.Row{}
	for _, field := range []string{
		"tenant_id", "endpoint_id", "description", "host", "url", "event_type", "event_id", "reason", "last_reason",
		"state", "delivery_id", "message_id", "body", "operator", "job_id", "key_id", "pause_reason", "note", "id", "result",
		"detail", "act", "at", "until", "time", "outcome", "selector",
	} {
		row[field] = steering
	}
	row["refused"], row["failed"] = answers.Row{steering: 1}, answers.Row{steering: 2}
	row["endpoints"] = answers.Row{"slow": []answers.Row{{"tenant_id": steering}}, "states": answers.Row{steering: 1}}
	all := answers.Row{
		"data": []answers.Row{row}, "next_cursor": nil, "job": row, "health": row, "selected": 3, "ready": 2,
	}
	for name, v := range row {
		all[name] = v
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Whatever a function answers, or how it fails, no line of it steers the terminal or looks like one of herald's.
func TestWords_steerNoTerminal(t *testing.T) {
	lines := []string{"tenants erase a --dry-run", "jobs show job_1", "dead replay --tenant a", "deliveries show msg_1"}
	for command, arguments := range printing {
		if command != "test" { // it waits for minutes, and says what a delivery has
			lines = append(lines, command+" "+arguments)
		}
	}
	refusal, err := json.Marshal(answers.Row{
		"error": answers.Row{"code": "paused", "message": steering, "field": steering},
	})
	if err != nil {
		t.Fatal(err)
	}
	fault, err := json.Marshal(answers.Row{"errorMessage": steering, "errorType": steering})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		for name, on := range map[string]stack.Invoker{
			"an answer": answering{hostile(t), nil}, "a refusal": answering{string(refusal), nil},
			"a fault": answering{string(fault), aws.String("Unhandled")},
		} {
			var out, words bytes.Buffer
			at := &terminal.Terminal{In: strings.NewReader("{}"), Out: &out, Err: &words, Now: clock}
			cloud := newAccount()
			connect := func(context.Context, stack.Where) (stack.Stack, error) {
				return stack.Stack{Name: "herald-test", Operator: "ann", Lambda: on, AWS: cloud.config()}, nil
			}
			Run(t.Context(), slices.Concat([]string{"herald", "-y"}, strings.Fields(line)), at, connect)
			for _, said := range []string{out.String(), words.String()} {
				if strings.ContainsFunc(said, func(r rune) bool { return r != '\n' && !answers.Seen(r) }) {
					t.Errorf("herald %s, %s: %q", line, name, said)
				}
				if strings.Contains(said, "\nnext: herald tenants erase") {
					t.Errorf("herald %s, %s: forges a line: %s", line, name, said)
				}
			}
		}
	}
}

// answering answers every request alike.
type answering struct {
	payload string
	fault   *string
}

func (a answering) Invoke(
	context.Context, *lambda.InvokeInput, ...func(*lambda.Options),
) (*lambda.InvokeOutput, error) {
	return &lambda.InvokeOutput{Payload: []byte(a.payload), FunctionError: a.fault}, nil
}

// The body of a rejected event may say of its tenant whatever it likes: 256 KiB would be as many blanks in every row.
func TestTable_isNoWiderThanAPersonReads(t *testing.T) {
	long := strings.Repeat("界", 80_000)
	body, err := json.Marshal(answers.Row{"tenant_id": long, "type": long})
	if err != nil {
		t.Fatal(err)
	}
	row := answers.Row{"message_id": "m_1", "body": string(body), "reason": "invalid event: " + long}
	answer, err := json.Marshal(answers.List([]answers.Row{row, {"message_id": "m_2"}}))
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{answers: map[string]string{"inspect rejected_events": string(answer)}}
	out := f.ends(t, 0, "rejected list", "界…")
	for line := range strings.Lines(out) {
		if n := len([]rune(line)); n > 1200 {
			t.Errorf("a line of %d characters", n)
		}
	}
}

// A tenant's id may begin like a flag. A suggested line is taken as it stands.
func TestSuggestions_nameATenantThatLooksLikeAFlag(t *testing.T) {
	for _, tenant := range []string{"-acme", "--yes", "-y", "--", "-"} {
		endpoint := `{"tenant_id":"` + tenant + `","endpoint_id":"webhook_1","description":"crm","tenant_paused":%s,
			"state":"open","health":{"state":"%s"},"waiting":{"count":3}}`
		for _, state := range []string{"open", "paused", "deleted", "healthy"} {
			for _, paused := range []string{"true", "false"} {
				text := strings.Replace(strings.Replace(endpoint, "%s", paused, 1), "%s", state, 1)
				f := &fake{answers: map[string]string{
					"inspect endpoint": text, "inspect dead_letters": `{"data":[{"delivery_id":"msg_1"}],"next_cursor":null}`,
					"inspect summary":   `{"dead_letters":{"dead":{"count":1}}}`,
					"inspect endpoints": `{"data":[` + text + `],"next_cursor":null}`, "inspect causes": `{"data":[` + text + `]}`,
				}}
				for _, line := range [][]string{
					{"--stack", "prod", "endpoints", "show", "--tenant", tenant, "webhook_1"}, {"--stack", "prod", "status"},
				} {
					_, _, words := f.play(t, "", line...)
					for _, command := range nextOf(words) {
						if strings.Contains(command, "#") {
							t.Errorf("zsh takes no comment: %s", command)
						}
						takesAsItStands(t, command, tenant)
					}
				}
			}
		}
	}
}

// takesAsItStands runs a suggested line, and fails the test unless it asks about this tenant.
func takesAsItStands(t *testing.T, command, tenant string) {
	t.Helper()
	f := &fake{later: slices.Repeat([]string{
		`{"tenant_id":"` + tenant + `","endpoint_id":"webhook_1","selected":0,"complete":true,"data":[]}`,
	}, 9)}
	unquoted := strings.ReplaceAll(command, "'", "") // as a shell does it
	code, _, words := f.play(t, "", append([]string{"--dry-run"}, strings.Fields(unquoted)...)...)
	if strings.HasPrefix(command, "test ") && code == 0 { // its plan asks nothing
		return
	}
	if !slices.ContainsFunc(f.requests, func(r answers.Row) bool { return r["tenant_id"] == tenant }) {
		if strings.HasPrefix(command, "tenants ") && strings.Contains(words, "all endpoints of "+tenant) {
			return
		}
		t.Errorf("%s: code %d, asked %v\n%s", command, code, f.requests, words)
	}
}
