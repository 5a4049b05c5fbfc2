//go:build emulator

package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit"
)

// rights are what functions have asked of AWS, as "sqs:SendMessage RetryQueue", by function.
type rights struct {
	mu   sync.Mutex
	used map[string]map[string]bool
}

// named makes a function's calls tell whose they are.
func named(cfg aws.Config, function string) aws.Config {
	cfg = cfg.Copy()
	cfg.AppID = function
	return cfg
}

var caller = regexp.MustCompile(`app/(\w+)`)

func (r *rights) add(t *testing.T, calls []testkit.Call) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range calls {
		function := caller.FindStringSubmatch(c.Header.Get("User-Agent"))
		if function == nil {
			t.Fatalf("%s %s: by nobody", c.Service, c.Action)
		}
		for _, resource := range resourcesOf(t, c) {
			if r.used[function[1]] == nil {
				r.used[function[1]] = map[string]bool{}
			}
			r.used[function[1]][c.Service+":"+action(c)+" "+resource] = true
		}
	}
}

// action is the name that IAM has for a call: a batch of SQS's needs the right to each of its entries.
func action(c testkit.Call) string {
	if c.Service == "sqs" {
		return strings.TrimSuffix(c.Action, "Batch")
	}
	return c.Action
}

// resourcesOf are the logical ids of the queue or the tables that a call names, with an index where it does.
func resourcesOf(t *testing.T, c testkit.Call) (found []string) {
	t.Helper()
	var body struct {
		QueueURL     string `json:"QueueUrl"`
		TableName    string
		IndexName    string
		RequestItems map[string]any
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		t.Fatal(err)
	}
	names := slices.Collect(maps.Keys(body.RequestItems))
	if name := body.TableName + body.QueueURL[strings.LastIndexByte(body.QueueURL, '/')+1:]; name != "" {
		names = append(names, name)
	}
	for _, name := range names {
		id, _, _ := strings.Cut(name, "-")
		if body.IndexName != "" {
			id += "/" + body.IndexName
		}
		found = append(found, id)
	}
	return found
}

// givenTo are a role's rights on queues and tables.
func givenTo(tpl template, name string) map[string]bool {
	given := map[string]bool{}
	for _, s := range roleStatements(tpl, name+"Role") {
		for _, resource := range list(s["Resource"]) {
			for _, action := range list(s["Action"]) {
				given[fmt.Sprint(action, " ", onResource(resource))] = true
			}
		}
	}
	return given
}

// check finds the calls that IAM would refuse, as the emulator does not.
func (r *rights) check(t *testing.T, tpl template) {
	t.Helper()
	for function, used := range r.used {
		given := givenTo(tpl, strings.ToUpper(function[:1])+function[1:])
		for _, right := range slices.Sorted(maps.Keys(used)) {
			if !given[right] {
				t.Errorf("%s calls %s, which its role does not allow", function, right)
			}
		}
	}
	want := []string{"deadletter", "deliver", "fanout", "release"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(r.used))); diff != "" {
		t.Errorf("functions that called AWS (-want +got):\n%s", diff)
	}
}
