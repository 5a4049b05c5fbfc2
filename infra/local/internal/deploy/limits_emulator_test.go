//go:build emulator

package deploy

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/herald-webhooks/herald/internal/testkit/emulator"
)

// changeSet creates a stack as sam deploy does.
func changeSet(t *testing.T, cloud *cloudformation.Client, name, template string) {
	t.Helper()
	_, err := cloud.CreateChangeSet(t.Context(), &cloudformation.CreateChangeSetInput{
		StackName: &name, ChangeSetName: aws.String(name), ChangeSetType: cfn.ChangeSetTypeCreate, TemplateBody: &template,
	})
	if err == nil {
		_, err = cloud.ExecuteChangeSet(t.Context(), &cloudformation.ExecuteChangeSetInput{
			StackName: &name, ChangeSetName: aws.String(name),
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The local stack refuses change sets for these reasons (infra/docs/local-stack.md, "Not as on AWS"). When one of
// them is gone, look whether sam deploy works.
func TestTheEmulatorHasTheLimitsThatKeepSAMFromDeploying(t *testing.T) {
	e, err := emulator.Start(t.Context(), emulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	cloud := cloudformation.NewFromConfig(aws.Config{
		Region: "local", BaseEndpoint: aws.String(e.URL.String()),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	t.Run("a change set leaves a stack without outputs", func(t *testing.T) {
		changeSet(t, cloud, "outputs", `{"Resources":{"Queue":{"Type":"AWS::SQS::Queue"}},
			"Outputs":{"Url":{"Value":{"Ref":"Queue"}}}}`)
		out, err := cloud.DescribeStacks(t.Context(), &cloudformation.DescribeStacksInput{StackName: aws.String("outputs")})
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Stacks[0].Outputs; len(got) > 0 {
			t.Errorf("it has %d outputs", len(got))
		}
	})
	for name, resource := range map[string]string{
		"serverless": `"Transform":"AWS::Serverless-2016-10-31","Resources":{"Any":{"Type":"AWS::Serverless::SimpleTable"}}`,
		"unknown":    `"Resources":{"Any":{"Type":"AWS::Lambda::EventInvokeConfig"}}`,
	} {
		t.Run("nothing is made of a resource that is "+name, func(t *testing.T) {
			changeSet(t, cloud, name, "{"+resource+"}")
			out, err := cloud.DescribeStackResources(t.Context(),
				&cloudformation.DescribeStackResourcesInput{StackName: aws.String(name)})
			if err != nil {
				t.Fatal(err)
			}
			if len(out.StackResources) != 1 || out.StackResources[0].PhysicalResourceId != nil {
				t.Errorf("the stack has %+v", out.StackResources)
			}
		})
	}
}
