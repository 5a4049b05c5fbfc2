package docs_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// decoders decode answers as strictly as it can be done, by function and action.
type decoders map[string]func(answer []byte) error

// add takes up an action, under its function and its name.
// aliases turns functions as the page names them into those of the actions.
var aliases = strings.NewReplacer("replay:delete", string(api.ReplayForGood), "inspect:scan", string(api.InspectScan),
	"apikeys:revoke", string(api.APIKeysRevoke))

func add[Request, Answer any](to decoders, a api.Action[Request, Answer]) {
	to[fmt.Sprintf("%s %s", a.Function, a.Name)] = func(answer []byte) error {
		var into Answer
		return json.Unmarshal(answer, &into, json.RejectUnknownMembers(true))
	}
}

// Scripts read the fields that the examples show. A field with another JSON name is no longer the one in the example,
// and unlike the tables of fields, no command writes the examples anew.
func TestTheAnswersOfOperatorsHaveTheFieldsThatTheExamplesShow(t *testing.T) {
	known, seen := decoders{}, map[string]bool{}
	add(known, api.GetSummary)
	add(known, api.GetDelivery)
	add(known, api.GetEndpoint)
	add(known, api.ListEndpoints)
	add(known, api.ListSubscribers)
	add(known, api.GetTenant)
	add(known, api.ListDeadLetters)
	add(known, api.OpenDeadLetter)
	add(known, api.ListRejected)
	add(known, api.ListJobFailures)
	add(known, api.GetJobOutcome)
	add(known, api.SendTest)
	add(known, api.Pause)
	add(known, api.Release)
	add(known, api.Discard)
	add(known, api.ReplayDeliveries)
	add(known, api.PurgeDeliveries)
	add(known, api.PublishRejected)
	add(known, api.DiscardRejected)
	add(known, api.IssueKey)
	add(known, api.ListKeys)
	add(known, api.RevokeKey)
	add(known, api.RevokeAllKeys)
	add(known, api.ImportEndpoints)
	add(known, api.EraseTenant.At(api.Replay)) // the example's is a dry run
	example := regexp.MustCompile("(?s)`([a-z:]+)`:\n\n```jsonl?\n([^\n]+)\n[^`]*```\n\nAnswer:\n\n```json\n(.*?)```")
	for _, e := range example.FindAllStringSubmatch(readFile(t, "infra/docs/operator-api.md"), -1) {
		var request struct {
			Action string `json:"action"`
		}
		if err := json.Unmarshal([]byte(e[2]), &request); err != nil {
			t.Fatalf("%s: %v", e[2], err)
		}
		name := aliases.Replace(e[1]) + " " + request.Action
		seen[name] = true
		if check, ok := known[name]; !ok {
			t.Errorf("%s has an example: add it here", name)
		} else if err := check([]byte(e[3])); err != nil {
			t.Errorf("the example of %s: %v", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !seen[name] {
			t.Errorf("%s has no example", name)
		}
	}
}
