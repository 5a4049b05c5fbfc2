package template

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asked is a call as IAM sees it.
type asked struct {
	action, resource string
	tenants          string // partitions of Endpoints that the call names, sorted
	attributes       string // of items, sorted, that the call names
	answer           string // dynamodb:Select of a read, dynamodb:ReturnValues of a write
	purpose          string // of what KMS seals or opens
}

// allows reports whether a statement of a role allows the call.
func allows(s object, a asked) bool {
	names := func(all []any, one string) bool {
		return slices.ContainsFunc(all, func(v any) bool { return fmt.Sprint(v) == one || onResource(v) == one })
	}
	if !names(list(s["Action"]), a.action) || !names(list(s["Resource"]), a.resource) {
		return false
	}
	equal := at(s, "Condition", "StringEquals")
	if purposes := list(equal["kms:EncryptionContext:purpose"]); len(purposes) > 0 && !names(purposes, a.purpose) {
		return false
	}
	limits := at(s, "Condition", "StringEqualsIfExists")
	answers := append(list(limits["dynamodb:Select"]), list(limits["dynamodb:ReturnValues"])...)
	if len(answers) > 0 && !names(answers, a.answer) {
		return false
	}
	for _, tenant := range strings.Fields(a.tenants) {
		only, but := partitions(s, "ForAllValues:StringLike"), partitions(s, "ForAllValues:StringNotLike")
		if only != "" && !strings.HasPrefix(tenant, only) || but != "" && strings.HasPrefix(tenant, but) {
			return false
		}
	}
	named := list(at(s, "Condition", "ForAllValues:StringEquals")["dynamodb:Attributes"])
	return named == nil || !slices.ContainsFunc(strings.Fields(a.attributes), func(name string) bool {
		return !names(named, name)
	})
}

// partitions is the beginning of the partition keys that a condition of a statement names.
func partitions(s object, operator string) string {
	keys := list(at(s, "Condition", operator)["dynamodb:LeadingKeys"])
	if len(keys) == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprint(keys[0]), "*")
}

// A compromised webhooks can delete endpoints; it cannot lift a pause. A compromised control changes no
// endpoint.
func TestOnlyControlWritesMarksAndOnlyWebhooksEndpoints(t *testing.T) {
	tpl := load(t)
	actions := []string{"BatchGetItem", "GetItem", "Query", "BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem"}
	var got []string
	for _, name := range functionsOf(tpl) {
		for _, action := range actions {
			for _, tenant := range []string{"acme", "marks#acme"} {
				call := asked{action: "dynamodb:" + action, resource: "Endpoints", tenants: tenant}
				if strings.Contains(action, "Get") || action == "Query" {
					call.answer = "SPECIFIC_ATTRIBUTES"
				}
				if slices.ContainsFunc(roleStatements(tpl, name+"Role"), func(s object) bool { return allows(s, call) }) {
					got = append(got, fmt.Sprint(name, " ", action, " ", tenant))
				}
			}
		}
	}
	want := []string{
		"Control GetItem acme", "Control GetItem marks#acme", "Control Query acme", "Control Query marks#acme",
		"Control PutItem marks#acme",
		"Deliver BatchGetItem acme", "Deliver BatchGetItem marks#acme",
		"Fanout Query acme",
		"Inspect BatchGetItem acme", "Inspect BatchGetItem marks#acme",
		"Inspect GetItem acme", "Inspect GetItem marks#acme", "Inspect Query acme", "Inspect Query marks#acme",
		"Release BatchGetItem acme", "Release BatchGetItem marks#acme",
		"Replay GetItem acme", "Replay Query acme", "Replay Query marks#acme",
		"Replay DeleteItem acme", "Replay DeleteItem marks#acme", // to erase a tenant
		"Webhooks GetItem acme", "Webhooks Query acme",
		"Webhooks DeleteItem acme", "Webhooks PutItem acme", "Webhooks UpdateItem acme",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rights (-want +got):\n%s", diff)
	}
}
