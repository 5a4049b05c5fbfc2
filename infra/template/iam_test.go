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
	for _, name := range functionsOf(tpl) {
		p := tpl.Resources[name+"Function"].Properties
		if got := target(p["Role"]); got != name+"Role" {
			t.Errorf("%s runs as %q", name, got)
		}
		for _, generated := range []string{"Policies", "Connectors"} {
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

// Every statement of a role or policy names its actions one by one and resources of this stack.
func TestNoWildcards(t *testing.T) {
	tpl := load(t)
	documents := map[string][]object{}
	for name := range tpl.ofType("AWS::IAM::Role") {
		documents[name] = roleStatements(tpl, name)
	}
	for name, r := range tpl.ofType("AWS::IAM::ManagedPolicy") {
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

func TestKeysAreUsedForTheirPurposeOnly(t *testing.T) {
	tpl, used := load(t), map[string]bool{}
	for _, name := range functionsOf(tpl) {
		for _, s := range roleStatements(tpl, name+"Role") {
			if !strings.HasPrefix(fmt.Sprint(list(s["Action"])[0]), "kms:") {
				continue
			}
			key := target(s["Resource"])
			used[key] = true
			if len(list(s["Action"])) != 1 {
				t.Errorf("%s: %v allows more than one thing", name, s["Sid"])
			}
			if purpose := at(s, "Condition", "StringEquals")["kms:EncryptionContext:purpose"]; purpose != purposes[key] {
				t.Errorf("%s: %v is conditioned on purpose %v, want %s", name, s["Sid"], purpose, purposes[key])
			}
		}
	}
	if len(used) != len(purposes) {
		t.Errorf("functions use the keys %v", used)
	}
}

// The account's root administers each key, or nobody could; using it is delegated under the
// condition of its purpose.
func TestKeyPolicies(t *testing.T) {
	for name, key := range load(t).ofType("AWS::KMS::Key") {
		if key.Properties["EnableKeyRotation"] != true {
			t.Errorf("%s is not rotated", name)
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
	names := strings.Split(strings.ReplaceAll(text, "#", ""), ", ")
	slices.Sort(names)
	return names
}

// Operators see neither what is sealed of an endpoint nor a body that waits: their functions may
// ask for the attributes that their stores name, and for no item as a whole.
func TestOperatorsFunctionsReadNoMoreThanTheyShow(t *testing.T) {
	tpl := load(t)
	waiting := append(projection(t, "backlog_read.go", "ProjectionExpression: "), "endpoint_shard")
	slices.Sort(waiting)
	want := map[string][]string{
		"Endpoints": projection(t, "endpoints.go", "const shownAttributes"), "Backlog": waiting,
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

// release decides about endpoints and reads neither URLs nor sealed secrets: its right to read them
// is for the attributes that its reader asks for.
func TestReleaseReadsNoSecret(t *testing.T) {
	var condition object
	for _, s := range roleStatements(load(t), "ReleaseRole") {
		if target(s["Resource"]) == "Endpoints" {
			condition = at(s, "Condition")
		}
	}
	asked := &attributesAsked{}
	reader := dynamo.NewReader(dynamo.ReaderConfig{
		Client: asked, Endpoints: "Endpoints", EndpointHealth: "EndpointHealth", WithoutSecrets: true,
	})
	if _, err := reader.Read(t.Context(), []dynamo.EndpointKey{{TenantID: "t", EndpointID: "e"}}); err != nil {
		t.Fatal(err)
	}
	if at(condition, "StringEqualsIfExists")["dynamodb:Select"] != "SPECIFIC_ATTRIBUTES" {
		t.Error("release may read whole endpoints")
	}
	allowed := list(at(condition, "ForAllValues:StringEquals")["dynamodb:Attributes"])
	if diff := cmp.Diff(allowed, asked.names); diff != "" {
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
