package deployerpolicy

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// policy is a policy document of IAM.
type policy struct {
	Version   string      `json:"Version"`
	Statement []statement `json:"Statement"`
}

type statement struct {
	Sid       string         `json:"Sid"`
	Effect    string         `json:"Effect"`
	Action    []string       `json:"Action"`
	Resource  []string       `json:"Resource"`
	Condition map[string]any `json:"Condition,omitempty"`
}

// left are the actions of handlers that the policy leaves out, each with the properties that need them. The template
// has none of these. A star stands for any text.
var left = map[string][]string{
	"dynamodb:BatchWriteItem":     {"ImportSourceSpecification", "Replicas"},
	"dynamodb:DeleteItem":         {"Replicas"},
	"dynamodb:GetItem":            {"Replicas"},
	"dynamodb:PutItem":            {"ImportSourceSpecification", "Replicas"},
	"dynamodb:Query":              {"Replicas"},
	"dynamodb:Scan":               {"Replicas"},
	"dynamodb:UpdateItem":         {"ImportSourceSpecification", "Replicas"},
	"dynamodb:*Replica*":          {"Replicas"},
	"dynamodb:*Import*":           {"ImportSourceSpecification"},
	"dynamodb:*KinesisStreaming*": {"KinesisStreamSpecification"},
	"dynamodb:PutResourcePolicy":  {"ResourcePolicy"}, // who may write one may give itself the items
	"elasticfilesystem:*":         {"FileSystemConfigs"},
	"firehose:*":                  {"DeliveryDestinationArn"},
	"iam:*Group*":                 {"Groups"},
	"iam:*User*":                  {"Users"},
	"kinesis:*":                   {"KinesisStreamSpecification"},
	"codedeploy:*OnPremises*":     {"OnPremisesInstanceTagFilters", "OnPremisesTagSet"},
	"kms:Decrypt":                 customerKeys,
	"kms:Encrypt":                 customerKeys,
	"kms:GenerateDataKey*":        customerKeys,
	"kms:*Grant":                  append([]string{"SSESpecification"}, customerKeys...),
	"kms:ReEncrypt*":              customerKeys,
	"lambda:PassCapacityProvider": {"CapacityProviderConfig"},
	"s3:*":                        {"BodyS3Location", "TruststoreUri"}, // code is named apart
	"s3files:*":                   {"FileSystemConfigs"},
	"secretsmanager:*":            {"SourceAccessConfigurations"},
	"iam:CreateServiceLinkedRole": nil, // named apart, for two services
	"logs:CreateLogDelivery":      nil, // named apart, with what belongs to it
	"iam:PassRole":                nil, // named apart, for the services that take roles
}

// customerKeys are the properties that name a key of the adopter's.
var customerKeys = []string{"KmsKeyArn", "KmsKeyId", "KmsKeyIdentifier", "KmsMasterKeyId", "KMSMasterKeyId"}

// changeSets are those of the command `aws cloudformation deploy`. CloudFormation asks for rights on a change set, in
// place of its stack, where its events are read by its ARN, and where it has tags:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awscloudformation.html.
const changeSets = "arn:aws:cloudformation:*:*:changeSet/awscli-cloudformation-package-deploy-*"

// apart are the statements that no handler names: those of the one who deploys, of roles that are handed over, and of
// features.
func apart() []statement {
	all := []statement{
		{"Stacks", "Allow", []string{
			"cloudformation:CancelUpdateStack", "cloudformation:ContinueUpdateRollback", "cloudformation:CreateChangeSet",
			"cloudformation:CreateStack", "cloudformation:DeleteChangeSet", "cloudformation:DeleteStack",
			"cloudformation:DescribeChangeSet", "cloudformation:DescribeEvents", "cloudformation:DescribeStackEvents",
			"cloudformation:DescribeStackResources", "cloudformation:DescribeStacks", "cloudformation:ExecuteChangeSet",
			"cloudformation:GetTemplate", "cloudformation:ListChangeSets", "cloudformation:ListStackResources",
			"cloudformation:RollbackStack",
			"cloudformation:TagResource", "cloudformation:UpdateStack",
		}, []string{"arn:aws:cloudformation:*:*:stack/herald-*", changeSets}, nil},
		{"Transform", "Allow", []string{"cloudformation:CreateChangeSet"},
			[]string{"arn:aws:cloudformation:*:aws:transform/Serverless-2016-10-31"}, nil},
		{"Summary", "Allow", []string{"cloudformation:GetTemplateSummary", "cloudformation:ValidateTemplate"},
			[]string{"*"}, nil},
		{"Code", "Allow", []string{"s3:GetObject", "s3:GetObjectVersion", "s3:PutObject"},
			[]string{"arn:aws:s3:::my-bucket/*"}, nil},
		{"CodeBucket", "Allow", []string{"s3:GetBucketLocation", "s3:ListBucket"}, []string{"arn:aws:s3:::my-bucket"}, nil},
		{"HandRolesOver", "Allow", []string{"iam:PassRole"}, []string{byName["iam"]["role"]}, map[string]any{
			"StringEquals": map[string]any{"iam:PassedToService": []string{
				"codedeploy.amazonaws.com", "lambda.amazonaws.com", "scheduler.amazonaws.com",
			}},
		}},
	}
	for _, f := range features {
		all = append(all, f.statement())
	}
	return all
}

// isLeft says whether the policy leaves an action out.
func isLeft(action string) bool {
	for name := range left {
		if covers(name, action) {
			return true
		}
	}
	return false
}

// covers says whether a text fits a pattern, in which a star stands for any text, as in policies.
func covers(pattern, text string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(text)
}

// needed are the actions of all handlers that the policy has to name, sorted.
func needed(byType map[string][]string) []string {
	all := map[string]bool{}
	for _, actions := range byType {
		for _, action := range actions {
			if !isLeft(action) {
				all[action] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// write makes the policy for the actions of the handlers. Each service whose actions can be restricted by name gets a
// statement for these, and one more statement has all other actions.
func write(byType map[string][]string, bounded map[string]bool) policy {
	services := map[string][]string{}
	var others []string
	for _, action := range needed(byType) {
		service, _, _ := strings.Cut(action, ":")
		if bounded[action] {
			services[service] = append(services[service], action)
		} else {
			others = append(others, action)
		}
	}
	p := policy{Version: "2012-10-17", Statement: apart()}
	for _, service := range slices.Sorted(maps.Keys(services)) {
		p.Statement = append(p.Statement, statement{sid(service), "Allow", services[service], patterns(service), nil})
	}
	return policy{p.Version, append(p.Statement, statement{"Others", "Allow", others, []string{"*"}, nil})}
}

// sid is a statement's name, which takes letters and digits alone.
func sid(service string) string {
	words := strings.Split(service, "-")
	for n, word := range words {
		words[n] = strings.ToUpper(word[:1]) + word[1:]
	}
	return cmp.Or(strings.Join(words, ""), "Other")
}
