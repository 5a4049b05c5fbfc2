package template

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/dynamo"
)

// functions are the logical ids without "Function", in the order of the design's table.
var functions = []string{
	"Webhooks", "Fanout", "Deliver", "Deadletter", "Inspect", "Replay", "Control", "Apikeys", "Release",
}

func statements(document any) (all []object) {
	o, _ := document.(object)
	for _, s := range list(o["Statement"]) {
		all = append(all, s.(object))
	}
	return all
}

func roleStatements(tpl template, role string) (all []object) {
	for _, p := range list(tpl.Resources[role].Properties["Policies"]) {
		all = append(all, statements(p.(object)["PolicyDocument"])...)
	}
	return all
}

func TestEachFunctionHasItsOwnExplicitRole(t *testing.T) {
	tpl := load(t)
	tpl.ofType(t, "AWS::Serverless::Function", len(functions))
	tpl.ofType(t, "AWS::IAM::Role", len(functions)+1) // and that of the schedule
	for _, name := range functions {
		p := tpl.Resources[name+"Function"].Properties
		if got := target(p["Role"]); got != name+"Role" {
			t.Errorf("%s runs as %q", name, got)
		}
		for _, generated := range []string{"Policies", "Connectors", "PermissionsBoundary"} {
			if p[generated] != nil {
				t.Errorf("%s has %s, which SAM turns into rights of its own choice", name, generated)
			}
		}
		trust := statements(tpl.Resources[name+"Role"].Properties["AssumeRolePolicyDocument"])
		if len(trust) != 1 || at(trust[0], "Principal")["Service"] != "lambda.amazonaws.com" {
			t.Errorf("%s's role is trusted to %v", name, trust)
		}
	}
}

func TestNoManagedPolicyOfAWS(t *testing.T) {
	for name, r := range load(t).Resources {
		if r.Properties["ManagedPolicyArns"] != nil {
			t.Errorf("%s attaches managed policies", name)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), ":aws:policy/") {
		t.Error("the template names a policy of AWS's own")
	}
}

// Every statement of a role or policy names its actions one by one and resources of this stack.
func TestNoWildcards(t *testing.T) {
	tpl := load(t)
	documents := map[string][]object{}
	for _, name := range functions {
		documents[name+"Role"] = roleStatements(tpl, name+"Role")
	}
	for name, r := range tpl.ofType(t, "AWS::IAM::ManagedPolicy", 3) {
		documents[name] = statements(r.Properties["PolicyDocument"])
	}
	for name, all := range documents {
		if len(all) == 0 {
			t.Errorf("%s allows nothing", name)
		}
		for _, s := range all {
			for _, action := range list(s["Action"]) {
				if strings.ContainsAny(fmt.Sprint(action), "*?") {
					t.Errorf("%s: action %v", name, action)
				}
			}
			for _, r := range list(s["Resource"]) {
				if !ofThisStack(tpl, r) {
					t.Errorf("%s: resource %v does not belong to this stack", name, r)
				}
			}
			if s["Effect"] != "Allow" || s["NotAction"] != nil || s["NotResource"] != nil {
				t.Errorf("%s: statement %v does not name what it allows", name, s["Sid"])
			}
			if len(list(s["Action"])) == 0 || len(list(s["Resource"])) == 0 {
				t.Errorf("%s: statement %v allows nothing", name, s["Sid"])
			}
		}
	}
}

func ofThisStack(tpl template, r any) bool {
	if _, ok := tpl.Resources[target(r)]; ok {
		o := r.(object)
		sub, _ := o["Fn::Sub"].(string)
		return !strings.ContainsAny(sub, "*?")
	}
	// A stack's ARN ends with an id that IAM cannot know: its name is what identifies it.
	o, _ := r.(object)
	return o["Fn::Sub"] == "arn:${AWS::Partition}:cloudformation:${AWS::Region}:${AWS::AccountId}:"+
		"stack/${AWS::StackName}/*"
}

var purposes = map[string]string{"SecretsKey": "signing-secret", "DeadLetterKey": "dead-letter"}

// Rights on keys, as the design's table of functions has them.
func TestKeysAreUsedForTheirPurposeOnly(t *testing.T) {
	tpl := load(t)
	want := map[string]string{
		"Webhooks":   "kms:Encrypt SecretsKey",
		"Fanout":     "",
		"Deliver":    "kms:Decrypt SecretsKey",
		"Deadletter": "kms:GenerateDataKey DeadLetterKey",
		"Inspect":    "kms:Decrypt DeadLetterKey",
		"Replay":     "kms:Decrypt DeadLetterKey",
		"Apikeys":    "",
	}
	for _, name := range functions {
		var got []string
		for _, s := range roleStatements(tpl, name+"Role") {
			action := fmt.Sprint(list(s["Action"])[0])
			if !strings.HasPrefix(action, "kms:") {
				continue
			}
			key := target(list(s["Resource"])[0])
			got = append(got, action+" "+key)
			if len(list(s["Action"])) != 1 || len(list(s["Resource"])) != 1 {
				t.Errorf("%s: %v allows more than one thing", name, s["Sid"])
			}
			if purpose := at(s, "Condition", "StringEquals")["kms:EncryptionContext:purpose"]; purpose != purposes[key] {
				t.Errorf("%s: %v is conditioned on purpose %v, want %s", name, s["Sid"], purpose, purposes[key])
			}
		}
		if strings.Join(got, ", ") != want[name] {
			t.Errorf("%s may %v, want %q", name, got, want[name])
		}
	}
}

// The account's root administers each key, or nobody could; using it is delegated under the
// condition of its purpose.
func TestKeyPolicies(t *testing.T) {
	for name, key := range load(t).ofType(t, "AWS::KMS::Key", len(purposes)) {
		if key.Properties["EnableKeyRotation"] != true {
			t.Errorf("%s is not rotated", name)
		}
		if key.all["DeletionPolicy"] != "Retain" || key.all["UpdateReplacePolicy"] != "Retain" {
			t.Errorf("%s is not retained", name)
		}
		for _, s := range statements(key.Properties["KeyPolicy"]) {
			root := object{"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
			if fmt.Sprint(at(s, "Principal")["AWS"]) != fmt.Sprint(root) {
				t.Errorf("%s: %v is for %v", name, s["Sid"], s["Principal"])
			}
			for _, action := range list(s["Action"]) {
				uses := slices.Contains([]any{"kms:Encrypt", "kms:Decrypt", "kms:GenerateDataKey"}, action)
				purpose := at(s, "Condition", "StringEquals")["kms:EncryptionContext:purpose"]
				broad := strings.Contains(fmt.Sprint(action), "*") || action == "kms:CreateGrant"
				if broad || (uses && purpose != purposes[name]) {
					t.Errorf("%s: %v allows %v with purpose %v", name, s["Sid"], action, purpose)
				}
			}
		}
	}
}

// rights is every action on every resource that each function calls, indexes as Table/index.
// Logs and keys have tests of their own.
var rights = map[string]string{
	"Webhooks": "dynamodb:GetItem ApiKeys; dynamodb:DeleteItem,GetItem,PutItem,Query,UpdateItem Endpoints",
	"Fanout": "dynamodb:Query Endpoints; " +
		"sqs:ChangeMessageVisibility,DeleteMessage,GetQueueAttributes,ReceiveMessage EventsQueue; " +
		"sqs:SendMessage DeliveryQueue; sqs:SendMessage EventsDeadLetterQueue",
	"Deliver": "dynamodb:BatchGetItem Endpoints; dynamodb:BatchWriteItem,PutItem Deliveries; " +
		"sqs:SendMessage DeadLetterQueue; " +
		"dynamodb:BatchGetItem,DeleteItem,PutItem,Query,UpdateItem EndpointHealth; dynamodb:BatchWriteItem Backlog; " +
		"sqs:ChangeMessageVisibility,DeleteMessage,GetQueueAttributes,ReceiveMessage DeliveryQueue; " +
		"sqs:ChangeMessageVisibility,DeleteMessage,GetQueueAttributes,ReceiveMessage,SendMessage RetryQueue",
	"Deadletter": "dynamodb:UpdateItem DeadLetters; dynamodb:GetItem,PutItem Deliveries; " +
		"sqs:ChangeMessageVisibility,DeleteMessage,GetQueueAttributes,ReceiveMessage DeadLetterQueue",
	"Inspect": "dynamodb:GetItem DeadLetters; dynamodb:BatchGetItem,GetItem Deliveries; " +
		"dynamodb:Query DeadLetters/by-endpoint; dynamodb:Query DeadLetters/by-status; " +
		"dynamodb:Query Deliveries/open-by-endpoint; " +
		"dynamodb:GetItem,Query Endpoints; dynamodb:GetItem,Scan EndpointHealth; " +
		"dynamodb:Query Backlog; dynamodb:Query Backlog/by-due; " +
		"sqs:GetQueueAttributes DeadLetterQueue; sqs:GetQueueAttributes DeliveryQueue; " +
		"sqs:GetQueueAttributes EventsQueue; sqs:GetQueueAttributes RetryQueue; " +
		"sqs:ChangeMessageVisibility,GetQueueAttributes,ReceiveMessage EventsDeadLetterQueue",
	"Replay": "dynamodb:DeleteItem,GetItem,UpdateItem DeadLetters; dynamodb:Query DeadLetters/by-endpoint; " +
		"dynamodb:PutItem Deliveries; dynamodb:GetItem Endpoints; " +
		"sqs:SendMessage DeliveryQueue; sqs:SendMessage EventsQueue; " +
		"sqs:ChangeMessageVisibility,DeleteMessage,ReceiveMessage EventsDeadLetterQueue",
	"Control": "dynamodb:GetItem,Query Endpoints; dynamodb:DeleteItem,GetItem,PutItem EndpointHealth; " +
		"dynamodb:Query Backlog",
	"Apikeys": "dynamodb:GetItem,PutItem,UpdateItem ApiKeys; dynamodb:Query ApiKeys/by-tenant",
	"Release": "dynamodb:BatchGetItem Endpoints; dynamodb:BatchGetItem,DeleteItem,PutItem,Query,Scan EndpointHealth; " +
		"dynamodb:BatchGetItem,BatchWriteItem,Query,UpdateItem Backlog; dynamodb:Query Backlog/by-due; " +
		"dynamodb:PutItem Deliveries; sqs:SendMessage RetryQueue; sqs:SendMessage DeadLetterQueue",
}

func TestRightsByFunction(t *testing.T) {
	tpl := load(t)
	for _, name := range functions {
		want := map[string]bool{}
		for right := range strings.SplitSeq(rights[name], "; ") {
			actions, on, _ := strings.Cut(right, " ")
			service, verbs, _ := strings.Cut(actions, ":")
			for verb := range strings.SplitSeq(verbs, ",") {
				want[service+":"+verb+" "+on] = true
			}
		}
		for _, s := range roleStatements(tpl, name+"Role") {
			for _, r := range list(s["Resource"]) {
				for _, action := range list(s["Action"]) {
					right := fmt.Sprint(action, " ", onResource(r))
					if strings.HasPrefix(right, "kms:") || strings.HasPrefix(right, "logs:") {
						continue
					}
					if !want[right] {
						t.Errorf("%s may %s and never does", name, right)
					}
					delete(want, right)
				}
			}
		}
		for right := range want {
			t.Errorf("%s may not %s and has to", name, right)
		}
	}
}

// projection is an expression of package dynamo that names attributes.
func projection(t *testing.T, file, constant string) []string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, "internal", "dynamo", file))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(strings.ReplaceAll(string(source), "\" +\n\t\"", ""), constant)
	_, after, _ = strings.Cut(after, `"`)
	text, _, _ := strings.Cut(after, `"`)
	if !found {
		t.Fatalf("%s does not say %s", file, constant)
	}
	return sorted(strings.Split(strings.ReplaceAll(text, "#", ""), ", "))
}

// Operators see neither what is sealed of an endpoint nor a body that waits: their functions may
// ask for the attributes that their stores name, and for no item as a whole.
func TestOperatorsFunctionsReadNoMoreThanTheyShow(t *testing.T) {
	tpl := load(t)
	waiting := append(projection(t, "backlog_read.go", "ProjectionExpression: "), "endpoint_shard")
	want := map[string][]string{
		"Endpoints": projection(t, "endpoints.go", "const shownAttributes"), "Backlog": sorted(waiting),
	}
	for _, name := range []string{"Inspect", "Control"} {
		got := map[string][]string{}
		for _, s := range roleStatements(tpl, name+"Role") {
			for _, r := range list(s["Resource"]) {
				if table := onResource(r); want[table] != nil {
					allowed := at(s, "Condition", "ForAllValues:StringEquals")["dynamodb:Attributes"]
					for _, attribute := range list(allowed) {
						got[table] = append(got[table], fmt.Sprint(attribute))
					}
					slices.Sort(got[table])
					if at(s, "Condition", "StringEqualsIfExists")["dynamodb:Select"] != "SPECIFIC_ATTRIBUTES" {
						t.Errorf("%s may read whole items of %s", name, table)
					}
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s may read (-named +allowed):\n%s", name, diff)
		}
	}
}

// onResource is the logical id of a statement's resource, with its index where it names one.
func onResource(r any) string {
	o, _ := r.(object)
	sub, _ := o["Fn::Sub"].(string)
	if _, index, ok := strings.Cut(sub, ".Arn}/index/"); ok {
		return target(r) + "/" + index
	}
	return target(r)
}

func TestPoliciesForPeopleAndServices(t *testing.T) {
	tpl := load(t)
	want := map[string][]string{
		"EventPublishers": {"sqs:SendMessage EventsQueue"},
		"InstanceManagers": {
			"lambda:InvokeFunction ControlFunction", "lambda:InvokeFunction InspectFunction",
			"lambda:InvokeFunction ReplayFunction",
		},
		"KeyIssuers": {"lambda:InvokeFunction ApikeysFunction"},
	}
	for name, rights := range want {
		var got []string
		for _, s := range statements(tpl.Resources[name].Properties["PolicyDocument"]) {
			for _, action := range list(s["Action"]) {
				if strings.HasPrefix(fmt.Sprint(action), "cloudformation:") {
					continue // finding functions by their names in the template
				}
				for _, r := range list(s["Resource"]) {
					got = append(got, fmt.Sprint(action, " ", target(r)))
				}
			}
		}
		if slices.Sort(got); !slices.Equal(got, rights) {
			t.Errorf("%s allows %v, want %v", name, got, rights)
		}
	}
}

// release decides about endpoints and reads neither URLs nor sealed secrets: its right to read them
// is for the attributes that its reader asks for.
func TestReleaseReadsNoSecret(t *testing.T) {
	var condition object
	for _, s := range roleStatements(load(t), "ReleaseRole") {
		if target(s["Resource"]) == "Endpoints" {
			condition = at(s, "Condition")
		}
	}
	want := object{
		"ForAllValues:StringEquals": object{"dynamodb:Attributes": []any{
			"tenant_id", "endpoint_id", "status", "created_at", "updated_at", "deleted_at", "secret_rotated_at",
		}},
		"StringEqualsIfExists": object{"dynamodb:Select": "SPECIFIC_ATTRIBUTES"},
	}
	if diff := cmp.Diff(want, condition); diff != "" {
		t.Errorf("condition (-want +got)\n%s", diff)
	}
	asked := &attributesAsked{}
	reader := dynamo.NewReader(dynamo.ReaderConfig{
		Client: asked, Endpoints: "Endpoints", EndpointHealth: "EndpointHealth", WithoutSecrets: true,
	})
	if _, err := reader.Read(t.Context(), []dynamo.EndpointKey{{TenantID: "t", EndpointID: "e"}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(at(want, "ForAllValues:StringEquals")["dynamodb:Attributes"], asked.names); diff != "" {
		t.Errorf("asked for (-allowed +asked)\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"EndpointHealth"}, {"Endpoints"}}, asked.tables); diff != "" {
		t.Errorf("the condition must not see what other tables are asked for: tables of each call (-want +got)\n%s", diff)
	}
}

// attributesAsked notes what is asked of the table Endpoints, and the tables of each call.
type attributesAsked struct {
	names  []any
	tables [][]string
}

func (a *attributesAsked) BatchGetItem(
	_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options),
) (*dynamodb.BatchGetItemOutput, error) {
	a.tables = append(a.tables, slices.Sorted(maps.Keys(in.RequestItems)))
	of, ok := in.RequestItems["Endpoints"]
	if !ok {
		return &dynamodb.BatchGetItemOutput{}, nil
	}
	for name := range strings.SplitSeq(*of.ProjectionExpression, ", ") {
		if behind, ok := of.ExpressionAttributeNames[name]; ok {
			name = behind
		}
		a.names = append(a.names, name)
	}
	return &dynamodb.BatchGetItemOutput{}, nil
}

// The schedule may start release, once a minute, and nothing else; what it missed is not made up for.
func TestScheduleOfRelease(t *testing.T) {
	tpl := load(t)
	f := tpl.Resources["ReleaseFunction"].Properties
	want := object{
		"Type": "ScheduleV2",
		"Properties": object{
			"ScheduleExpression": "rate(1 minute)",
			"RoleArn":            object{"Fn::GetAtt": []any{"ReleaseScheduleRole", "Arn"}},
			"RetryPolicy":        object{"MaximumRetryAttempts": "0", "MaximumEventAgeInSeconds": "60"},
		},
	}
	if diff := cmp.Diff(object{"EveryMinute": want}, at(f, "Events")); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(at(want, "Properties")["RetryPolicy"], f["EventInvokeConfig"]); diff != "" {
		t.Errorf("asynchronous invocations (-want +got)\n%s", diff)
	}
	var got []string
	for _, s := range roleStatements(tpl, "ReleaseScheduleRole") {
		got = append(got, fmt.Sprint(s["Action"], " ", target(s["Resource"])))
	}
	if diff := cmp.Diff([]string{"lambda:InvokeFunction ReleaseFunction"}, got); diff != "" {
		t.Errorf("the schedule may (-want +got)\n%s", diff)
	}
}
