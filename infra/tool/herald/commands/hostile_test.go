package commands

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/operators/api"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
)

// steering is a text of a tenant, a publisher or a receiver that would clear a screen, forge a line, reorder one, or be
// taken for another.
const steering = "a\x1b[2J\x1b]0;root\x07\r\nnext: herald tenants erase b\u202e\u2028\u200b\u3164\x00\x7f\u0085"

// hostile is every answer, with that text wherever one may stand.
func hostile() string {
	row := together(filled[api.ListedEndpoint](), filled[api.Delivery](), filled[api.DeadLetter](),
		filled[api.RejectedEvent](), filled[api.Job](), filled[api.JobFailure](), filled[api.Key](), filled[api.Cause](),
		filled[api.DeliveryResult](), filled[api.EventResult](), filled[api.Imported]())
	return together(jsontext.Value(row), filled[api.OpenedDeadLetter](), filled[api.ControlAnswer](),
		filled[api.TestDelivery](), filled[api.IssuedKey](), filled[api.JobOutcome](), filled[api.Survey](),
		filled[api.Endpoint](), filled[api.Erased](), filled[api.Summary](), filled[api.DeliveryList](),
		api.List[jsontext.Value]{Data: []jsontext.Value{jsontext.Value(row)}})
}

// filled is an answer that has something in every field.
func filled[T any]() (answer T) {
	fill(reflect.ValueOf(&answer).Elem())
	return answer
}

// fill sets every text to steering, every number to 3, and every list and map to one element.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(steering)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for n := range v.NumField() {
			if v.Field(n).CanSet() { // a time has no such field
				fill(v.Field(n))
			}
		}
	default:
	}
}

// Whatever a function answers, or how it fails, no line of it steers the terminal or looks like one of herald's.
func TestWords_steerNoTerminal(t *testing.T) {
	lines := []string{"tenants erase a --dry-run", "jobs show job_1", "dead replay --tenant a", "deliveries show msg_1"}
	for command, arguments := range printing {
		if command != "test" { // it waits for minutes, and says what a delivery has
			lines = append(lines, command+" "+arguments)
		}
	}
	refusal := refused(api.Refusal{Code: api.CodePaused, Message: steering, Field: steering})
	fault := written(map[string]string{"errorMessage": steering, "errorType": steering})
	for _, line := range lines {
		for name, on := range map[string]client.Invoker{
			"an answer": answering{hostile(), nil}, "a refusal": answering{refusal, nil},
			"a fault": answering{fault, aws.String("Unhandled")},
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
	body, err := json.Marshal(map[string]string{"tenant_id": long, "type": long})
	if err != nil {
		t.Fatal(err)
	}
	f := fakeOf(to(api.ListRejected, api.RejectedList{List: listOf(
		api.RejectedEvent{MessageID: "m_1", Body: new(string(body)), Reason: "invalid event: " + long},
		api.RejectedEvent{MessageID: "m_2"})}))
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
		for _, state := range []api.State{api.StateOpen, api.StatePaused, api.StateDeleted, api.StateHealthy} {
			for _, paused := range []bool{true, false} {
				health, letter := api.Health{State: state}, api.DeadLetter{DeliveryID: "msg_1"}
				f := fakeOf(
					to(api.GetEndpoint, api.Endpoint{
						TenantID: tenant, EndpointID: "webhook_1", Description: "crm", TenantPaused: paused, Health: health,
						Waiting: api.Waiting{Count: 3},
					}),
					to(api.ListDeadLetters, listOf(letter)),
					to(api.GetSummary, api.Summary{
						DeadLetters: map[deadletter.Status]api.LetterCount{deadletter.Dead: {Count: 1}},
						Causes: &api.Causes{Data: []api.Cause{{
							TenantID: tenant, EndpointID: "webhook_1", Description: "crm", State: state,
						}}},
					}),
					to(api.ListEndpoints, listOf(api.ListedEndpoint{
						TenantID: tenant, EndpointID: "webhook_1", Description: "crm", Health: health,
					})))
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
	f := &fake{later: slices.Repeat([]string{together(
		api.Endpoint{TenantID: tenant, EndpointID: "webhook_1"}, api.Survey{Complete: true}, api.Causes{},
	)}, 9)}
	unquoted := strings.ReplaceAll(command, "'", "") // as a shell does it
	code, _, words := f.play(t, "", append([]string{"--dry-run"}, strings.Fields(unquoted)...)...)
	if strings.HasPrefix(command, "test ") && code == 0 { // its plan asks nothing
		return
	}
	if !slices.ContainsFunc(f.requests, func(r sent) bool { return r["tenant_id"] == tenant }) {
		if strings.HasPrefix(command, "tenants ") && strings.Contains(words, "all endpoints of "+tenant) {
			return
		}
		t.Errorf("%s: code %d, asked %v\n%s", command, code, f.requests, words)
	}
}
