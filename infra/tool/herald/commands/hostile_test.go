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
