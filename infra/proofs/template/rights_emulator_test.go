//go:build emulator

package template

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit"
)

// request is the part of a call's body that IAM looks at.
type request struct {
	TableName, IndexName, KeyID, ReturnValues, Select       string
	QueueURL                                                string `json:"QueueUrl"`
	LogGroupName, LogStreamName                             string
	ProjectionExpression, KeyConditionExpression            string
	FilterExpression, ConditionExpression, UpdateExpression string
	ExpressionAttributeNames, EncryptionContext             map[string]string
	ExpressionAttributeValues                               map[string]any
	Key, Item                                               map[string]any
	Keys                                                    []map[string]any
	RequestItems                                            map[string]json.RawMessage
	TransactItems                                           []map[string]request
	Entries                                                 []struct{ EventBusName string }
}

// calls are the calls of a function that are not alike.
type calls struct {
	mu  sync.Mutex
	all map[string]map[asked]bool // by function
}

var invoked = regexp.MustCompile(`^POST /2015-03-31/functions/(.+)/invocations$`)

var caller = regexp.MustCompile(`app/(\w+)`)

// add takes the calls that a stage has made.
func (c *calls) add(t *testing.T, s *stage) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range s.faults.Calls("") {
		function := caller.FindStringSubmatch(call.Header.Get("User-Agent"))
		if function == nil {
			t.Fatalf("%s %s: by nobody", call.Service, call.Action)
		}
		if c.all[function[1]] == nil {
			c.all[function[1]] = map[asked]bool{}
		}
		for _, a := range askedBy(t, call) {
			if a.resource == s.bus {
				a.resource = "NoticesBus"
			}
			a.resource = s.logical.Replace(a.resource)
			c.all[function[1]][a] = true
		}
	}
}

// askedBy takes a call apart: IAM judges each table, and each write of a transaction, for itself. A batch of
// SQS's needs the right to each of its entries.
func askedBy(t *testing.T, c testkit.Call) (all []asked) {
	t.Helper()
	var whole request
	decode(t, c.Body, &whole)
	action := c.Service + ":" + c.Action
	switch {
	case c.Service == "lambda":
		name := invoked.FindStringSubmatch(c.Action)
		return []asked{{action: "lambda:InvokeFunction", resource: name[1]}}
	case c.Service == "events":
		return []asked{{action: action, resource: whole.Entries[0].EventBusName}}
	case c.Service == "sqs":
		action = strings.TrimSuffix(action, "Batch")
	case c.Action == "TransactWriteItems":
		for _, item := range whole.TransactItems {
			for kind, r := range item {
				all = append(all, r.asks("dynamodb:"+kind+"Item"))
			}
		}
		return all
	case whole.RequestItems != nil:
		for table, text := range whole.RequestItems {
			var r request
			if c.Action == "BatchGetItem" {
				decode(t, text, &r)
			}
			r.TableName = table
			all = append(all, r.asks(action))
		}
		return all
	}
	return []asked{whole.asks(action)}
}

func decode(t *testing.T, text []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
}

func (r request) asks(action string) asked {
	a := asked{
		action: action, resource: r.TableName + r.QueueURL + r.KeyID, attributes: strings.Join(r.attributes(), " "),
		purpose: r.EncryptionContext["purpose"], answer: r.ReturnValues, tenants: strings.Join(r.tenants(), " "),
	}
	switch {
	case r.IndexName != "":
		a.resource += "/" + r.IndexName
	case action == "logs:PutLogEvents":
		a.resource = r.LogGroupName + "/" + r.LogStreamName
	case action == "logs:CreateLogStream":
		a.resource = r.LogGroupName
	}
	if action == "dynamodb:UpdateItem" && a.answer == "" {
		a.answer = "NONE"
	}
	switch {
	case action == "dynamodb:Query" || action == "dynamodb:Scan":
		// AWS's text on conditions: without the parameter, the key has the value ALL_ATTRIBUTES. That a projection changes
		// it is nowhere said.
		a.answer = cmp.Or(r.Select, "ALL_ATTRIBUTES")
	case reads.MatchString(action) && r.ProjectionExpression != "": // of one item: no parameter Select
		a.answer = "SPECIFIC_ATTRIBUTES"
	case reads.MatchString(action):
		a.answer = "ALL_ATTRIBUTES"
	}
	return a
}

var (
	reads = regexp.MustCompile(`^dynamodb:(BatchGetItem|GetItem|Query|Scan)$`)
	word  = regexp.MustCompile(`[:#]?[A-Za-z_]\w*\(?`)
	inner = regexp.MustCompile(`\.#?\w+`) // of a map: IAM knows attributes of the item alone
)

// tenants are the partitions of the table Endpoints that the request names. Of other tables it is the kind of their
// partitions, where these have kinds.
func (r request) tenants() []string {
	named := map[string]bool{}
	items := append(r.Keys, r.Key, r.Item)
	if r.KeyConditionExpression != "" {
		items = append(items, object{"tenant_id": r.ExpressionAttributeValues[":tenant"]})
	}
	for _, item := range items {
		id := fmt.Sprint(at(item, "delivery_id")["S"], at(item, "scope")["S"])
		kind, _, hasKind := strings.Cut(strings.ReplaceAll(id, "<nil>", ""), "#")
		tenant, ofTenant := at(item, "tenant_id")["S"].(string)
		switch {
		case hasKind:
			named[kind+"#"] = true
		case ofTenant && item["delivery_id"] == nil:
			named[tenant] = true
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// attributes are the names in the request's keys and expressions. DynamoDB's own words are in upper case, or
// functions.
func (r request) attributes() []string {
	named := map[string]bool{}
	for _, item := range append(r.Keys, r.Key, r.Item) {
		for name := range item {
			named[name] = true
		}
	}
	for _, expression := range []string{
		r.ProjectionExpression, r.KeyConditionExpression, r.FilterExpression, r.ConditionExpression, r.UpdateExpression,
	} {
		for _, name := range word.FindAllString(inner.ReplaceAllString(expression, ""), -1) {
			switch {
			case name[0] == '#':
				named[r.ExpressionAttributeNames[name]] = true
			case name[0] != ':' && !strings.HasSuffix(name, "(") && name != strings.ToUpper(name):
				named[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// refused finds the calls that IAM would refuse, as the emulator does not.
func (c *calls) refused(t *testing.T, tpl template) {
	t.Helper()
	for _, name := range functionsOf(tpl) {
		for a := range c.all[strings.ToLower(name)] {
			if !may(tpl, name+"Role", a) {
				t.Errorf("%s calls %+v, which its role does not allow", name, a)
			}
		}
	}
}

// unused finds the rights that no call needs, attributes included.
func (c *calls) unused(t *testing.T, tpl template) {
	t.Helper()
	for _, name := range functionsOf(tpl) {
		needed := map[string]bool{}
		for a := range c.all[strings.ToLower(name)] {
			for _, attribute := range append(strings.Fields(a.attributes), "") {
				needed[a.action+" "+a.resource+attribute] = true
			}
		}
		for _, p := range mappingsOf(tpl.Resources[name+"Function"].Properties) {
			for _, action := range []string{"sqs:ReceiveMessage ", "sqs:DeleteMessage ", "sqs:GetQueueAttributes "} {
				needed[action+target(p["Queue"])] = true
			}
		}
		for _, s := range granted(tpl, name+"Role") {
			for _, right := range rightsOf(s) {
				lambdas := strings.HasPrefix(right, "logs:") && !strings.Contains(right, " AuditLogs") // which writes the logs
				if !needed[right] && !lambdas {
					t.Errorf("%s may %s, and never does", name, right)
				}
			}
			for _, attribute := range list(at(s, "Condition", "ForAllValues:StringEquals")["dynamodb:Attributes"]) {
				names := func(right string) bool { return needed[right+fmt.Sprint(attribute)] }
				if !slices.ContainsFunc(rightsOf(s), names) {
					t.Errorf("%s: %s allows %v, which no call names", name, s["Sid"], attribute)
				}
			}
		}
	}
}

// rightsOf are those of a statement, as "sqs:SendMessage RetryQueue".
func rightsOf(s object) (rights []string) {
	for _, resource := range list(s["Resource"]) {
		for _, action := range list(s["Action"]) {
			rights = append(rights, fmt.Sprint(action, " ", onResource(resource)))
		}
	}
	return rights
}
