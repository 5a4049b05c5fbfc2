package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asked is a call as IAM sees it.
type asked struct {
	action, resource string
	tenants          string // partitions of the table that the call names, of Endpoints mostly by tenant, sorted
	attributes       string // of items, sorted, that the call names
	answer           string // dynamodb:Select of a read, dynamodb:ReturnValues of a write
	purpose          string // the kms:EncryptionContext that names the kind of data
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

// may reports whether a role's policies, or those of keys, allow the call.
func may(tpl template, role string, a asked) bool {
	return slices.ContainsFunc(granted(tpl, role), func(s object) bool { return allows(s, a) })
}

// keyGrants are the statements of a key's policy that name a role of this stack, by role, each with the key as
// its resource.
func keyGrants(tpl template, key string) map[string][]object {
	grants := map[string][]object{}
	for _, s := range statements(tpl.Resources[key].Properties["KeyPolicy"]) {
		for _, principal := range list(at(s, "Principal")["AWS"]) {
			if role := target(principal); tpl.Resources[role].Type == "AWS::IAM::Role" {
				s = maps.Clone(s)
				s["Resource"] = object{"Ref": key}
				grants[role] = append(grants[role], s)
			}
		}
	}
	return grants
}

// granted is all that a role is allowed: by its own policies, and by those of keys.
func granted(tpl template, role string) []object {
	all := slices.Clone(roleStatements(tpl, role))
	for key := range tpl.OfType("AWS::KMS::Key") {
		all = append(all, keyGrants(tpl, key)[role]...)
	}
	return all
}

// The rows limit an attacker who has taken over a function. In webhooks, the attacker can delete endpoints, but lift no
// pause. In control, the attacker can change no endpoint. In deliver, the attacker can drop the deliveries that it
// receives, but none that wait. replay can delete, since it erases tenants.
//
// Threat of a tenant: makes or revives keys through `webhooks`. Held by: of a key it writes counters alone.
func TestWhoMayReadAndWriteEndpointsKeysAndWhatWaits(t *testing.T) {
	const some, whole = "SPECIFIC_ATTRIBUTES", "ALL_ATTRIBUTES"
	reads := []string{"BatchGetItem", "GetItem", "Query", "Scan"}
	writes := []string{"BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem"}
	sealed := []string{"Deliver BatchGetItem", "Webhooks GetItem", "Webhooks Query"}
	issuers := []string{"Apikeys PutItem", "Apikeys UpdateItem", "Replay DeleteItem"}
	tpl := load(t)
	health := func(attribute string) asked {
		return asked{resource: "EndpointHealth", attributes: "scope name " + attribute, answer: "NONE"}
	}
	for name, row := range map[string]struct {
		actions []string
		call    asked
		want    []string
	}{
		"tell owners of outages": {writes, health("outage"), []string{
			"Release DeleteItem", "Release UpdateItem", "Replay DeleteItem"}},
		"tell owners of pauses": {writes, health("pause"), []string{
			"Release DeleteItem", "Release UpdateItem", "Replay DeleteItem"}},
		"tell owners of deaths": {writes, health("death"), []string{
			"Deadletter UpdateItem", "Release DeleteItem", "Release UpdateItem", "Replay DeleteItem"}},
		"open and close circuits": {writes, health("state"), []string{
			"Deliver UpdateItem", "Release DeleteItem", "Release UpdateItem", "Replay DeleteItem"}},
		"hold deliveries": {writes, health("held_until"), []string{
			"Control UpdateItem", "Deliver UpdateItem", "Release DeleteItem", "Release UpdateItem", "Replay DeleteItem"}},
		"make tenants slow": {writes, health("slow_until"), []string{
			"Deliver UpdateItem", "Release DeleteItem", "Release UpdateItem", "Replay DeleteItem"}},
		"have a whole circuit returned": {
			[]string{"UpdateItem"}, asked{resource: "EndpointHealth", answer: "ALL_NEW"}, []string{"Release UpdateItem"},
		},
		"see who subscribes, of all tenants": {[]string{"Scan"}, asked{
			resource: "Endpoints", attributes: "tenant_id endpoint_id status events", answer: some}, []string{"Inspect Scan"}},
		"see the URLs of all tenants": {[]string{"Scan"}, asked{
			resource: "Endpoints", attributes: "tenant_id endpoint_id url", answer: some}, nil},
		"see whole endpoints of all tenants": {[]string{"Scan"}, asked{resource: "Endpoints", answer: whole}, nil},
		"see operators' marks": {reads, asked{
			resource: "Endpoints", tenants: "marks#acme", attributes: "tenant endpoints", answer: some}, []string{
			"Control GetItem", "Control Query", "Deliver BatchGetItem", "Inspect BatchGetItem", "Inspect GetItem",
			"Inspect Query", "Release BatchGetItem", "Webhooks GetItem",
		}},
		"see what receivers answered": {reads, asked{
			resource: "EndpointHealth", tenants: "endpoint#webhook_1", attributes: "scope name last", answer: some}, []string{
			"Control GetItem", "Deliver BatchGetItem", "Fanout BatchGetItem", "Inspect BatchGetItem", "Inspect GetItem",
			"Release BatchGetItem", "Release Scan",
		}},
		"see records of deliveries": {reads, asked{resource: "Deliveries", tenants: "msg_1", answer: some}, []string{
			"Deadletter GetItem", "Inspect BatchGetItem", "Inspect GetItem", "Replay Scan",
		}},
		"write records of deliveries": {writes, asked{resource: "Deliveries", tenants: "msg_1"}, []string{
			"Deadletter PutItem", "Deliver BatchWriteItem", "Deliver PutItem", "Release PutItem", "Replay DeleteItem",
			"Replay PutItem",
		}},
		"count tests": {writes, asked{resource: "Deliveries", tenants: "tests#webhook_1#1", attributes: "tests"}, []string{
			"Deadletter PutItem", "Deliver BatchWriteItem", "Deliver PutItem", "Release PutItem", "Replay DeleteItem",
			"Replay PutItem", "Webhooks UpdateItem",
		}},
		"see sealed secrets":  {reads, asked{resource: "Endpoints", attributes: "sealed_secret", answer: some}, sealed},
		"see sealed headers":  {reads, asked{resource: "Endpoints", attributes: "sealed_headers", answer: some}, sealed},
		"see client secrets":  {reads, asked{resource: "Endpoints", attributes: "sealed_oauth2", answer: some}, sealed},
		"see whole endpoints": {reads, asked{resource: "Endpoints", answer: whole}, sealed},
		"find endpoints of all tenants by their ids": {reads, asked{resource: "Endpoints/by-endpoint", answer: some},
			[]string{"Webhooks Query"}},
		"write operators' marks": {writes, asked{resource: "Endpoints", tenants: "marks#acme"}, []string{
			"Control PutItem", "Replay DeleteItem",
		}},
		"write endpoints": {writes, asked{resource: "Endpoints", tenants: "acme"}, []string{
			"Replay DeleteItem", "Webhooks DeleteItem", "Webhooks PutItem", "Webhooks UpdateItem",
		}},
		"revive or revoke keys": {writes, asked{resource: "ApiKeys", attributes: "revoked_at"}, issuers},
		"widen keys":            {writes, asked{resource: "ApiKeys", attributes: "scopes"}, issuers},
		"give keys away":        {writes, asked{resource: "ApiKeys", attributes: "tenant_id"}, issuers},
		"make keys":             {writes, asked{resource: "ApiKeys", attributes: "hash"}, issuers},
		"count requests of keys": {writes, asked{resource: "ApiKeys", attributes: "key_id spent"},
			append(issuers, "Webhooks UpdateItem")},
		"change what waits": {writes, asked{resource: "Backlog"}, []string{
			"Deliver PutItem", "Release DeleteItem", "Release UpdateItem", "Replay DeleteItem",
		}},
	} {
		var got []string
		for _, function := range functionsOf(tpl) {
			for _, action := range row.actions {
				row.call.action = "dynamodb:" + action
				if may(tpl, function+"Role", row.call) {
					got = append(got, function+" "+action)
				}
			}
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("who may %s (-want +got):\n%s", name, diff)
		}
	}
}
