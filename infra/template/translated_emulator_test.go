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

// translated is what CloudFormation gets: the output of AWS's own translator, with these parameters ("Name=Value"),
// and what CloudFormation then makes of conditions.
func translated(t *testing.T, parameters ...string) template {
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
		"SecretsKey DeliverRole kms:Decrypt signing-secret",
		"SecretsKey WebhooksRole kms:Encrypt signing-secret",
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
	all := allowed("PublisherAccounts=111122223333,444455556666")
	if len(all) != 1 || all[0]["Action"] != "sqs:SendMessage" || target(all[0]["Resource"]) != "EventsQueue" {
		t.Fatalf("other accounts may: %v", all)
	}
	want := object{"AWS": object{"Fn::Split": []any{",", object{"Ref": "PublisherAccounts"}}}}
	if diff := cmp.Diff(want, all[0]["Principal"]); diff != "" {
		t.Errorf("who may publish (-want +got):\n%s", diff)
	}
}
