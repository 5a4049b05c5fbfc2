//go:build emulator

package template

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/infra/kit/sam"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

var translations = map[string]template{} // by their parameters

// translated is the template that CloudFormation acts on: the output of AWS's own translator for these parameters
// ("Name=Value"), after its conditions.
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
	answer, err := sam.Translate(t.Context(), sam.Source{Root: root, Environment: "default", Parameters: parameters})
	if err != nil {
		t.Fatal(err)
	}
	return cfn.Of(settings(answer.Parameters).choose(t, answer.Body))
}

// SAM adds roles and policies of AWS's own where it is not told otherwise.
func TestTranslationAddsNoRights(t *testing.T) {
	tpl, written := translated(t), load(t)
	for name, r := range tpl.OfType("AWS::IAM::Role") {
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

// IAM alone gives no use of Herald's keys, even to an identity that may use any key of the account. An administrator
// would have to change the key's policy first, and CloudTrail shows that.
//
// Threat of the account: decrypts secrets, headers or dead letters. Held by: the keys' policies name the roles, and
// IAM adds nothing.
func TestOnlyTheirRolesUseTheKeys(t *testing.T) {
	tpl := translated(t)
	var got []string
	for key, r := range tpl.OfType("AWS::KMS::Key") {
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
		"SecretsKey DeliverRole kms:Decrypt [signing-secret headers client-secret]",
		"SecretsKey WebhooksRole kms:Encrypt [signing-secret headers client-secret]",
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("use of keys (-want +got):\n%s", diff)
	}
	for role := range tpl.OfType("AWS::IAM::Role") {
		for _, s := range roleStatements(tpl, role) {
			if strings.Contains(fmt.Sprint(s["Action"]), "kms:") {
				t.Errorf("%s: %v is allowed by IAM, too", role, s["Sid"])
			}
		}
	}
}

// uses finds actions that read or write with a key, or let others do so.
var uses = regexp.MustCompile(`\*|Decrypt|Encrypt|DataKey|CreateGrant|ReplicateKey`)

// The maker of a replica chooses its policy, and the replica opens everything that the key has sealed. A Region has one
// replica of a key at most, so replicas may be made in the named Regions only.
//
// Threat of the account: replicates a key under another policy. Held by: `MultiRegionKeys` alone, into
// `ReplicaRegions` alone.
func TestKeysAreReplicatedOnlyIntoTheRegionsThatAreNamed(t *testing.T) {
	for name, row := range map[string]struct {
		parameters []string
		may        bool
	}{
		"by default":              {nil, false},
		"without a Region":        {[]string{"MultiRegionKeys=yes"}, false},
		"with Regions":            {[]string{"MultiRegionKeys=yes", "ReplicaRegions=eu-west-1,eu-west-2"}, true},
		"keys of a single Region": {[]string{"ReplicaRegions=eu-west-1"}, false},
	} {
		keys := translated(t, row.parameters...).OfType("AWS::KMS::Key")
		for key, r := range keys {
			var got []any
			for _, s := range statements(r.Properties["KeyPolicy"]) {
				if strings.Contains(fmt.Sprint(s["Action"]), "ReplicateKey") {
					got = append(got, s["Effect"], s["Action"], s["Condition"])
				}
			}
			var want []any
			if row.may {
				regions := object{"Fn::Split": []any{",", object{"Ref": "ReplicaRegions"}}}
				want = []any{"Allow", "kms:ReplicateKey", object{"StringEquals": object{"kms:ReplicaRegion": regions}}}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, key, diff)
			}
		}
		if len(keys) != 2 {
			t.Errorf("%s: %d keys", name, len(keys))
		}
	}
}

// Otherwise the API is still reached by it, past whatever guards the domain.
func TestTheAddressThatAWSGivesIsOffWhereAParameterSaysSo(t *testing.T) {
	for _, row := range []struct {
		parameters []string
		off        bool
	}{
		{nil, false}, {everything, false}, {append([]string{"DisableExecuteApiEndpoint=true"}, everything...), true},
	} {
		tpl := translated(t, row.parameters...)
		servers := list(at(tpl.Resources["HttpApi"].Properties, "Body")["servers"])
		if len(servers) != 1 {
			t.Fatalf("%v: servers %v", row.parameters, servers)
		}
		server, _ := servers[0].(object)
		off := at(server, "x-amazon-apigateway-endpoint-configuration")["disableExecuteApiEndpoint"]
		if off != row.off {
			t.Errorf("%v: the address of AWS's is off: %v", row.parameters, off)
		}
	}
}

// A second stack in the account and region could not be created.
func TestTranslatedResourcesHaveNoNameOfTheirOwn(t *testing.T) {
	for id, r := range translated(t).Resources {
		for property, value := range r.Properties {
			name, literal := value.(string)
			inItsOwner := r.Type == "AWS::ApiGatewayV2::Stage" || r.Type == "AWS::Lambda::Alias"
			named := strings.HasSuffix(property, "Name") && property != "MetricName"
			if literal && named && !inItsOwner {
				t.Errorf("%s: %s is %q in every stack", id, property, name)
			}
		}
	}
}

// API Gateway warns of path parameters without a schema, which is how SAM writes them.
func TestTheAPIIsImportedDespiteWarnings(t *testing.T) {
	for id, r := range translated(t).OfType("AWS::ApiGatewayV2::Api") {
		if r.Properties["FailOnWarnings"] == true && strings.Contains(fmt.Sprint(r.Properties["Body"]), "{id}") {
			t.Errorf("%s: the import fails", id)
		}
	}
}

// These types have no tags in CloudFormation, or get none from SAM (mappings).
var untagged = []string{
	"AWS::ApiGatewayV2::ApiMapping", "AWS::ApplicationAutoScaling::ScalableTarget",
	"AWS::ApplicationAutoScaling::ScalingPolicy", "AWS::Budgets::Budget", "AWS::CloudWatch::Dashboard",
	"AWS::IAM::ManagedPolicy", "AWS::IAM::Policy",
	"AWS::Events::EventBusPolicy", "AWS::KMS::Alias", "AWS::Lambda::Alias",
	"AWS::Lambda::EventInvokeConfig", "AWS::Lambda::EventSourceMapping", "AWS::Lambda::Permission",
	"AWS::Lambda::ResourcePolicy",
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

// everything sets each parameter that switches on a part which is off by default.
var everything = []string{
	"AlarmTopicArn=arn:aws:sns:eu-central-1:111122223333:alarms",
	"TicketTopicArn=arn:aws:sns:eu-central-1:111122223333:tickets", "PublisherAccounts=111122223333", "Notices=on",
	"NoticesContact=on",
	"PermissionsBoundaryArn=arn:aws:iam::111122223333:policy/boundary", "HeartbeatTenant=heartbeat",
	"VpcSubnetIds=subnet-0a,subnet-0b", "VpcSecurityGroupIds=sg-0c",
	"DomainName=webhooks.example.com", "CertificateArn=arn:aws:acm:eu-central-1:111122223333:certificate/0d",
	"MonthlyBudget=200", "ProvisionedCapacity=true", "PublisherTopics=" + topics, "PublisherRules=" + rules,
}

func TestEveryRoleHasTheBoundaryThatIsGiven(t *testing.T) {
	for id, r := range translated(t, everything...).OfType("AWS::IAM::Role") {
		if target(r.Properties["PermissionsBoundary"]) != "PermissionsBoundaryArn" {
			t.Errorf("%s is bounded by %v", id, r.Properties["PermissionsBoundary"])
		}
	}
	for id, r := range translated(t).OfType("AWS::IAM::Role") {
		if r.Properties["PermissionsBoundary"] != nil {
			t.Errorf("without a boundary %s has %v", id, r.Properties["PermissionsBoundary"])
		}
	}
}

// Lambda connects deliver to the VPC with rights of deliver's role. An attacker in deliver must not be able to use
// them.
func TestDeliverAloneRunsInTheVPCThatIsGiven(t *testing.T) {
	tpl := translated(t, everything...)
	for id, r := range tpl.OfType("AWS::Lambda::Function") {
		if connected := r.Properties["VpcConfig"] != nil; connected != (id == "DeliverFunction") {
			t.Errorf("%s: %v", id, r.Properties["VpcConfig"])
		}
	}
	if got := list(tpl.Resources["DeliverRole"].Properties["ManagedPolicyArns"]); len(got) != 1 ||
		target(got[0]) != "DeliverConnections" {
		t.Errorf("Lambda connects deliver with %v", got)
	}
	denied := 0
	for _, s := range statements(tpl.Resources["DeliverConnections"].Properties["PolicyDocument"]) {
		for _, action := range list(s["Action"]) {
			if !strings.HasPrefix(fmt.Sprint(action), "ec2:") {
				t.Errorf("deliver may %v anything", action)
			}
		}
		caller, _ := at(s, "Condition", "ArnEquals")["lambda:SourceFunctionArn"].(object)
		self, _ := caller["Fn::Sub"].(string)
		if s["Effect"] == "Deny" && s["Action"] == "ec2:*" && strings.HasSuffix(self, ":function:${AWS::StackName}-deliver") {
			denied++
		}
	}
	if denied != 1 {
		t.Error("the function may use EC2, as Lambda may with its role")
	}
	connection := at(translated(t).Resources["DeliverFunction"].Properties, "VpcConfig")
	if len(list(connection["SubnetIds"])) > 0 || len(list(connection["SecurityGroupIds"])) > 0 {
		t.Errorf("without subnets, deliver is in %v", connection)
	}
}

func TestWhatIsOffUntilAParameterAsksForIt(t *testing.T) {
	with, without := translated(t, everything...).Resources, translated(t).Resources
	var got []string
	for id := range with {
		if without[id].Type == "" {
			got = append(got, id)
		}
	}
	slices.Sort(got)
	want := []string{
		"ApiDomain", "ApiDomainMapping", "Budget", "DeadletterNotices", "DeliverConnections", "DeliveriesReads",
		"DeliveriesReadsPolicy", "DeliveriesWrites", "DeliveriesWritesPolicy", "EndpointKeysReads",
		"EndpointKeysReadsPolicy", "EndpointKeysWrites", "EndpointKeysWritesPolicy", "EndpointsReads",
		"EndpointsReadsPolicy", "EndpointsWrites", "EndpointsWritesPolicy", "HeartbeatAlarm", "HeartbeatSchedule",
		"HeartbeatScheduleRole",
		"NoticesBus", "NoticesBusPolicy", "OpenByEndpointReads", "OpenByEndpointReadsPolicy", "OpenByEndpointWrites",
		"OpenByEndpointWritesPolicy", "ReleaseContacts", "ReleaseNotices",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("with every parameter, the stack has (-want +got):\n%s", diff)
	}
	mapping := with["ApiDomainMapping"].Properties
	if target(mapping["DomainName"]) != "ApiDomain" || target(mapping["ApiId"]) != "HttpApi" ||
		target(with["ApiDomain"].Properties["DomainName"]) != "DomainName" {
		t.Errorf("the domain that is given leads elsewhere: %v", mapping)
	}
}

// An account of ten concurrent executions takes no reservation. An installed version has the defaults, and a trial of a
// checkout the values of [prod], with its reservations set to 0.
func TestNothingIsReservedInASmallAccount(t *testing.T) {
	prod := configurations(t, load(t))["prod"]
	var kept, trial []string
	for name, value := range prod {
		if strings.HasPrefix(name, "AWS::") {
			continue
		}
		kept = append(kept, fmt.Sprint(name, "=", value))
		if strings.HasSuffix(name, "ReservedConcurrency") {
			value = "0"
		}
		trial = append(trial, fmt.Sprint(name, "=", value))
	}
	for _, one := range []struct {
		parameters []string
		reserves   bool
	}{{nil, false}, {trial, false}, {kept, true}} {
		var reserved []string
		for id, r := range translated(t, one.parameters...).Resources {
			if r.Properties["ReservedConcurrentExecutions"] != nil || r.Properties["ProvisionedConcurrencyConfig"] != nil {
				reserved = append(reserved, id)
			}
		}
		if (len(reserved) > 0) != one.reserves {
			t.Errorf("with %v, these reserve: %v", one.parameters, reserved)
		}
	}
}
