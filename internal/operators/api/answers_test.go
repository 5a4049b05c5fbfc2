package api_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// decoders decode answers as strictly as it can be done, by function and action.
type decoders map[string]func(answer []byte) error

// aliases turns functions as they are invoked into those of the actions.
var aliases = strings.NewReplacer("replay:delete", string(api.ReplayForGood), "inspect:scan", string(api.InspectScan),
	"apikeys:revoke", string(api.APIKeysRevoke))

// add adds the decoder of an action's answers, under its function and its name.
func add[Request, Answer any](to decoders, a api.Action[Request, Answer]) {
	to[fmt.Sprintf("%s %s", a.Function, a.Name)] = func(answer []byte) error {
		var into Answer
		return json.Unmarshal(answer, &into, json.RejectUnknownMembers(true))
	}
}

// Scripts read the fields that the example answers show. A field with another JSON name is no longer the one in the
// example, and unlike the reference's tables of fields, no command writes the examples anew. The functions' own answers
// are compared with the same file in infra/proofs/template.
func TestAnswersHaveTheFieldsThatTheExamplesShow(t *testing.T) {
	known, seen := decoders{}, map[string]bool{}
	add(known, api.GetSummary)
	add(known, api.ListCauses)
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
	add(known, api.StartJob)
	add(known, api.IssueKey)
	add(known, api.ListKeys)
	add(known, api.RevokeKey)
	add(known, api.RevokeAllKeys)
	add(known, api.ImportEndpoints)
	add(known, api.EraseTenant.At(api.Replay)) // the example's is a dry run
	text, err := os.ReadFile("testdata/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var examples map[string]jsontext.Value
	if err := json.Unmarshal(text, &examples); err != nil {
		t.Fatal(err)
	}
	for asked, answer := range examples {
		name := aliases.Replace(asked)
		seen[name] = true
		if check, ok := known[name]; !ok {
			t.Errorf("%s has an example: add it here", name)
		} else if err := check(answer); err != nil {
			t.Errorf("the example of %s: %v", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !seen[name] {
			t.Errorf("%s has no example", name)
		}
	}
}
