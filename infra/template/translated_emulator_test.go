//go:build emulator

package template

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

var translations = map[string]template{} // by their parameters

// translated is what CloudFormation gets: the output of AWS's own translator, with these parameters ("Name=Value"),
// and what CloudFormation then makes of conditions.
func translated(t *testing.T, parameters ...string) template {
	t.Helper()
	key := strings.Join(parameters, " ")
	if _, known := translations[key]; !known {
		translations[key] = translate(t, parameters...)
	}
	return translations[key]
}

func translate(t *testing.T, parameters ...string) template {
	t.Helper()
	base, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	python, err := tools.Python(base)
	if err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{"infra/local/translate.py", "template.yaml", "samconfig.toml", "default"}, parameters...)
	cmd := exec.CommandContext(t.Context(), python, arguments...)
	cmd.Dir = base
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("translating: %v", err)
	}
	var answer struct {
		Template   object
		Parameters settings
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatal(err)
	}
	return convert(t, answer.Parameters.choose(t, answer.Template))
}

// SAM adds roles and policies of AWS's own where it is not told otherwise.
func TestTranslationAddsNoRights(t *testing.T) {
	tpl, written := translated(t), load(t)
	for name, r := range tpl.ofType("AWS::IAM::Role") {
		if written.Resources[name].Type == "" || r.Properties["ManagedPolicyArns"] != nil {
			t.Errorf("%s is SAM's, or has managed policies", name)
		}
	}
	text, err := json.Marshal(tpl.Resources)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), ":aws:policy/") {
		t.Error("the translated template names a policy of AWS's own")
	}
}

// Whoever may use any key of the account by IAM may use none of ours, and administrators would have to change the
// key's policy first, which CloudTrail shows.
func TestOnlyTheirRolesUseTheKeys(t *testing.T) {
	tpl := translated(t)
	var got []string
	for key, r := range tpl.ofType("AWS::KMS::Key") {
		all := statements(r.Properties["KeyPolicy"])
		for _, s := range all[1:] {
			for _, principal := range list(at(s, "Principal")["AWS"]) {
				purpose := at(s, "Condition", "StringEquals")["kms:EncryptionContext:purpose"]
				got = append(got, fmt.Sprint(key, " ", target(principal), " ", s["Action"], " ", purpose))
			}
		}
		root := object{"AWS": object{"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}}
		if diff := cmp.Diff(root, at(all[0], "Principal")); diff != "" || uses.MatchString(fmt.Sprint(all[0]["Action"])) {
			t.Errorf("%s's administrators may %v (-want +got):\n%s", key, all[0]["Action"], diff)
		}
		if r.Properties["EnableKeyRotation"] != true {
			t.Errorf("%s is not rotated", key)
		}
	}
	want := []string{
		"DeadLetterKey DeadletterRole kms:GenerateDataKey dead-letter",
		"DeadLetterKey InspectRole kms:Decrypt dead-letter",
		"DeadLetterKey ReplayRole kms:Decrypt dead-letter",
		"SecretsKey DeliverRole kms:Decrypt [signing-secret headers]",
		"SecretsKey WebhooksRole kms:Encrypt [signing-secret headers]",
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("use of keys (-want +got):\n%s", diff)
	}
	for role := range tpl.ofType("AWS::IAM::Role") {
		for _, s := range roleStatements(tpl, role) {
			if strings.Contains(fmt.Sprint(s["Action"]), "kms:") {
				t.Errorf("%s: %v is allowed by IAM, too", role, s["Sid"])
			}
		}
	}
}

// uses finds actions that read or write with a key, or let others do so.
var uses = regexp.MustCompile(`\*|Decrypt|Encrypt|DataKey|CreateGrant`)

// A second stack in the account and region could not be created.
func TestTranslatedResourcesHaveNoNameOfTheirOwn(t *testing.T) {
	for id, r := range translated(t).Resources {
		for property, value := range r.Properties {
			name, literal := value.(string)
			inItsAPI := r.Type == "AWS::ApiGatewayV2::Stage"
			if literal && !inItsAPI && (property == "Name" || strings.HasSuffix(property, "Name")) && property != "MetricName" {
				t.Errorf("%s: %s is %q in every stack", id, property, name)
			}
		}
	}
}

// API Gateway warns of path parameters without a schema, which is how SAM writes them.
func TestTheAPIIsImportedDespiteWarnings(t *testing.T) {
	for id, r := range translated(t).ofType("AWS::ApiGatewayV2::Api") {
		if r.Properties["FailOnWarnings"] == true && strings.Contains(fmt.Sprint(r.Properties["Body"]), "{id}") {
			t.Errorf("%s: the import fails", id)
		}
	}
}

func TestOtherAccountsPublishOnlyWhereTheyAreNamed(t *testing.T) {
	allowed := func(parameters ...string) (all []object) {
		for _, r := range translated(t, parameters...).ofType("AWS::SQS::QueuePolicy") {
			for _, s := range statements(r.Properties["PolicyDocument"]) {
				if s["Effect"] != "Deny" {
					all = append(all, s)
				}
			}
		}
		return all
	}
	if all := allowed(); len(all) != 0 {
		t.Errorf("without PublisherAccounts: %v", all)
	}
	all := allowed(everything...)
	if len(all) != 1 || all[0]["Action"] != "sqs:SendMessage" || target(all[0]["Resource"]) != "EventsQueue" {
		t.Fatalf("other accounts may: %v", all)
	}
	want := object{"AWS": object{"Fn::Split": []any{",", object{"Ref": "PublisherAccounts"}}}}
	if diff := cmp.Diff(want, all[0]["Principal"]); diff != "" {
		t.Errorf("who may publish (-want +got):\n%s", diff)
	}
}

// What has no tags has none in CloudFormation, or gets none from SAM (mappings).
var untagged = []string{
	"AWS::ApiGatewayV2::ApiMapping", "AWS::CloudWatch::Dashboard", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy",
	"AWS::KMS::Alias",
	"AWS::Lambda::EventInvokeConfig", "AWS::Lambda::EventSourceMapping", "AWS::Lambda::Permission",
	"AWS::Logs::QueryDefinition", "AWS::SQS::QueuePolicy", "AWS::Scheduler::Schedule",
}

func TestEverythingIsTaggedWithItsStage(t *testing.T) {
	tpl := translated(t, everything...)
	for id, r := range tpl.Resources {
		tags := r.Properties["Tags"]
		if r.Type == "AWS::ApiGatewayV2::Api" {
			tags = at(r.Properties, "Body")["tags"]
		}
		tagged := strings.Contains(fmt.Sprint(tags), "herald:stage")
		if slices.Contains(untagged, r.Type) == tagged {
			t.Errorf("%s, of type %s, has the tags %v", id, r.Type, tags)
		}
	}
}

// everything are parameters that switch on what is off by default.
var everything = []string{
	"AlarmTopicArn=arn:aws:sns:eu-central-1:111122223333:alarms", "PublisherAccounts=111122223333", "Notices=on",
	"PermissionsBoundaryArn=arn:aws:iam::111122223333:policy/boundary",
	"VpcSubnetIds=subnet-0a,subnet-0b", "VpcSecurityGroupIds=sg-0c",
	"DomainName=webhooks.example.com", "CertificateArn=arn:aws:acm:eu-central-1:111122223333:certificate/0d",
}

func TestEveryRoleHasTheBoundaryThatIsGiven(t *testing.T) {
	for id, r := range translated(t, everything...).ofType("AWS::IAM::Role") {
		if target(r.Properties["PermissionsBoundary"]) != "PermissionsBoundaryArn" {
			t.Errorf("%s is bounded by %v", id, r.Properties["PermissionsBoundary"])
		}
	}
	for id, r := range translated(t).ofType("AWS::IAM::Role") {
		if r.Properties["PermissionsBoundary"] != nil {
			t.Errorf("without a boundary %s has %v", id, r.Properties["PermissionsBoundary"])
		}
	}
}

// Whoever takes over deliver must not be able to use what Lambda needs to connect it.
func TestDeliverAloneRunsInTheVPCThatIsGiven(t *testing.T) {
	tpl := translated(t, everything...)
	for id, r := range tpl.ofType("AWS::Lambda::Function") {
		if connected := r.Properties["VpcConfig"] != nil; connected != (id == "DeliverFunction") {
			t.Errorf("%s: %v", id, r.Properties["VpcConfig"])
		}
	}
	allowed, denied := map[string][]any{}, map[string][]any{}
	if got := list(tpl.Resources["DeliverRole"].Properties["ManagedPolicyArns"]); len(got) != 1 ||
		target(got[0]) != "DeliverConnections" {
		t.Errorf("Lambda connects deliver with %v", got)
	}
	for _, s := range statements(tpl.Resources["DeliverConnections"].Properties["PolicyDocument"]) {
		allowed[fmt.Sprint(s["Effect"])] = list(s["Action"])
		if s["Effect"] == "Deny" {
			denied[fmt.Sprint(at(s, "Condition", "ArnEquals")["lambda:SourceFunctionArn"])] = list(s["Action"])
		}
	}
	self := "map[Fn::Sub:arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${AWS::StackName}-deliver]"
	if diff := cmp.Diff(allowed["Allow"], denied[self]); diff != "" || len(denied) != 1 {
		t.Errorf("of what Lambda may, the function may (-Lambda +denied):\n%s", diff)
	}
	for _, action := range allowed["Allow"] {
		if !strings.HasPrefix(fmt.Sprint(action), "ec2:") {
			t.Errorf("deliver may %v anything", action)
		}
	}
	tpl = translated(t)
	if tpl.Resources["DeliverFunction"].Properties["VpcConfig"] != nil || tpl.Resources["DeliverConnections"].Type != "" {
		t.Error("without subnets, deliver is in a VPC or has the rights for it")
	}
}

func TestTheAPIHasTheDomainThatIsGiven(t *testing.T) {
	for kind, want := range map[string]object{
		"AWS::ApiGatewayV2::DomainName": {"DomainName": object{"Ref": "DomainName"}},
		"AWS::ApiGatewayV2::ApiMapping": {"DomainName": object{"Ref": "ApiDomain"}, "ApiId": object{"Ref": "HttpApi"}},
	} {
		with, without := translated(t, everything...).ofType(kind), translated(t).ofType(kind)
		if len(with) != 1 || len(without) != 0 {
			t.Errorf("%s: %v with a domain, %v without", kind, with, without)
		}
		for _, r := range with {
			for property, value := range want {
				if diff := cmp.Diff(value, r.Properties[property]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", property, diff)
				}
			}
		}
	}
}

func TestNoticesAreOffUnlessTheyAreAskedFor(t *testing.T) {
	about := func(parameters ...string) (ids []string) {
		for id, r := range translated(t, parameters...).Resources {
			text, err := json.Marshal(r.Properties)
			if err != nil {
				t.Fatal(err)
			}
			if r.Type == "AWS::Events::EventBus" || strings.Contains(string(text), "events:PutEvents") ||
				r.Type == "AWS::IAM::Policy" {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		return ids
	}
	if got := about(); len(got) > 0 {
		t.Errorf("off: the stack has %v", got)
	}
	want := []string{"DeadletterNotices", "NoticesBus", "ReleaseNotices"}
	if diff := cmp.Diff(want, about(everything...)); diff != "" {
		t.Errorf("on (-want +got):\n%s", diff)
	}
}
