//go:build emulator

package template

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/infra/kit/runbook"
)

// operate makes the requests of operator-api.md with ids that exist, and compares the first answer of each action with
// its example. Cursors are made up, and may be refused.
func (s *stage) operate() {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "infra/docs/operator-api.md"))
	s.must(err)
	examples := s.examples()
	functions := s.people()
	shown := s.ask(functions["inspect"], `{"action":"dead_letters","operator":"ann","endpoint_id":"webhook_good"}`)
	key := s.ask(functions["apikeys"], `{"action":"issue","operator":"ann","tenant_id":"acme"}`)["key_id"]
	waiting := s.ask(functions["inspect"], `{"action":"rejected_events","operator":"ann"}`)["data"].([]any)
	events := make([]string, len(waiting))
	for n, e := range waiting {
		events[n] = fmt.Sprintf("%q", e.(object)["message_id"])
	}
	names := strings.NewReplacer("webhook_…", "webhook_good", "01…", fmt.Sprint(key),
		"msg_…", fmt.Sprint(shown["data"].([]any)[0].(object)["delivery_id"]), `,"msg_…"`, "",
		`"message_ids":["…","…"]`, `"message_ids":[`+strings.Join(events, ",")+`]`)
	asked, started := 0, "job_…"
	for _, part := range parts(string(text)) {
		for _, request := range part.Requests {
			act := functions[part.Function]
			answer := s.ask(act, strings.ReplaceAll(names.Replace(request), "job_…", started))
			refused, _ := answer["error"].(object)
			if refused["code"] == "publishing" { // one job at a time works on rejected events
				s.ask(functions["replay"], `{"action":"stop_job","operator":"ann","job_id":"`+started+`"}`)
				answer = s.ask(act, names.Replace(request))
				refused, _ = answer["error"].(object)
			}
			if !slices.Contains([]any{nil, "invalid_cursor"}, refused["code"]) {
				s.t.Errorf("%s: %v", request, refused)
			}
			var sent object
			decode(s.t, []byte(request), &sent)
			name := part.Function + " " + fmt.Sprint(sent["action"])
			if example, ok := examples[name]; ok {
				for _, member := range unanswered(example, answer) {
					s.t.Errorf("%s: the example shows the member %s, which the answer has not", request, member)
				}
				delete(examples, name)
			}
			if job, ok := answer["job"].(object); ok && part.Function == "replay" { // others are resumed at the alias
				started = job["job_id"].(string)
			}
			asked++
		}
	}
	if asked < 35 || len(examples) > 0 {
		s.t.Fatalf("operator-api.md has %d requests, and none for the examples %v", asked, slices.Sorted(maps.Keys(examples)))
	}
}

// examples are the example answers of operators' actions, by function and action.
func (s *stage) examples() (all map[string]any) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "internal/operators/api/testdata/answers.json"))
	s.must(err)
	decode(s.t, text, &all)
	return all
}

// parts are the parts of all groups of a page, and of the variants that it leaves out.
func parts(page string) (all []runbook.Part) {
	for _, group := range append(runbook.Groups(page), runbook.Variants()...) {
		all = append(all, group.Parts...)
	}
	return all
}

// unanswered are the members that an example shows and the answer has not. Of an empty list and of null it can tell
// nothing. The names below some members are data: states, reasons, headers.
func unanswered(shown, answer any) (missing []string) {
	switch shown := shown.(type) {
	case object:
		answer, ok := answer.(object)
		for name, value := range shown {
			got, has := answer[name]
			switch {
			case ok && !has:
				missing = append(missing, name)
			case !slices.Contains([]string{"counts", "failed", "headers", "refused", "states"}, name):
				for _, deeper := range unanswered(value, got) {
					missing = append(missing, name+"."+deeper)
				}
			}
		}
	case []any:
		if answer, ok := answer.([]any); ok && len(shown) > 0 && len(answer) > 0 {
			return unanswered(shown[0], answer[0])
		}
	}
	return missing
}

// workJobs has release wake replay for jobs, replay work them off, and inspect show one. The page's jobs go first:
// they would purge the dead letter of this job.
func (s *stage) workJobs(by functions.Functions) {
	s.t.Helper()
	people := s.people()
	s.ask(people["replay"], `{"action":"work_jobs","operator":"release"}`)
	s.put("DeadLetterQueue", "webhook_good", 1)
	s.consume(by)
	const request = `{"action":"start_job","operator":"ann","act":"replay","endpoint_id":"webhook_good"}`
	started := s.ask(people["replay"], request)
	s.runRelease(by.Release)
	s.ask(people["replay"], `{"action":"work_jobs","operator":"release"}`)
	id := started["job"].(object)["job_id"].(string)
	s.ask(people["inspect"], `{"action":"job_failures","operator":"ann","job_id":"`+id+`"}`)
}

// erase has replay erase a tenant of whom every table has something.
func (s *stage) erase() {
	s.t.Helper()
	s.wait(s.message("webhook_good"), s.now.Add(time.Hour), true)
	erase := s.people()["replay:delete"]
	left := `{"action":"erase","operator":"ann","tenant_id":"acme","confirm":"acme"}`
	for left != "" {
		answer := s.ask(erase, left)
		left = ""
		if next := answer["next_cursor"]; next != nil {
			left = fmt.Sprintf(`{"action":"erase","operator":"ann","tenant_id":"acme","confirm":"acme","cursor":%q}`, next)
		}
	}
}

func (s *stage) ask(function lambda.Handler, request string) (answer object) {
	s.t.Helper()
	text, err := function.Invoke(s.t.Context(), []byte(request))
	s.must(err)
	decode(s.t, text, &answer)
	return answer
}
