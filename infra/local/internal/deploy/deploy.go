// Package deploy deploys a template to the AWS emulator and reads back what was deployed.
//
// It promises a stack whose event source mappings are all disabled in the emulator, which would
// otherwise poll the queues itself. It changes nothing else.
package deploy

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cfn "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/infra/local/internal/sam"
)

// Bucket is where deployed functions have their placeholder of code.
const Bucket = "code"

// Stack is what was deployed, as the emulator describes it.
type Stack struct {
	Queues    map[string]Queue    // by logical id, as the other maps
	Tables    map[string]string   // names
	Keys      map[string]string   // ARNs
	Functions map[string]Function //
	Mappings  []Mapping
	Removed   map[string][]string // what of the template was not deployed: logical ids by type
}

// Queue is a deployed queue.
type Queue struct{ URL, ARN string }

// Function is a deployed function.
type Function struct {
	Name, ARN, Handler string
	TimeoutSeconds     int
	MemoryMB           int
	Concurrency        int // reserved, 0 for none
	Variables          map[string]string
}

// Mapping is a deployed event source mapping that was enabled.
type Mapping struct {
	QueueARN, FunctionARN    string
	BatchSize, WindowSeconds int
	MaximumConcurrency       int // 0 for none
	PartialResponses         bool
}

// Template deploys t as a stack of this name and reads the stack back.
func Template(ctx context.Context, cfg aws.Config, name string, t *sam.Template) (*Stack, error) {
	body, removed, err := t.Deployable()
	if err != nil {
		return nil, err
	}
	if err := uploadCode(ctx, cfg, t); err != nil {
		return nil, fmt.Errorf("uploading code: %w", err)
	}
	cloud := cloudformation.NewFromConfig(cfg)
	if err := create(ctx, cloud, name, body, t.Parameters); err != nil {
		return nil, fmt.Errorf("creating stack: %w", err)
	}
	out, err := cloud.DescribeStackResources(ctx, &cloudformation.DescribeStackResourcesInput{StackName: &name})
	if err != nil {
		return nil, fmt.Errorf("reading stack: %w", err)
	}
	d := &Stack{
		Queues: map[string]Queue{}, Tables: map[string]string{}, Keys: map[string]string{},
		Functions: map[string]Function{}, Removed: removed,
	}
	for _, r := range out.StackResources {
		if err := d.read(ctx, cfg, r); err != nil {
			return nil, fmt.Errorf("reading %s: %w", aws.ToString(r.LogicalResourceId), err)
		}
	}
	d.Mappings, err = takeMappings(ctx, lambda.NewFromConfig(cfg))
	return d, err
}

// uploadCode gives every function an archive: the emulator refuses to make one without.
func uploadCode(ctx context.Context, cfg aws.Config, t *sam.Template) error {
	store := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	location := s3types.BucketLocationConstraint(cfg.Region)
	if _, err := store.CreateBucket(ctx, &s3.CreateBucketInput{
		Bucket:                    aws.String(Bucket),
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: location},
	}); err != nil {
		return fmt.Errorf("making bucket: %w", err)
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	if _, err := w.Create("bootstrap"); err != nil {
		return fmt.Errorf("making archive: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("making archive: %w", err)
	}
	for _, f := range t.Resources("AWS::Lambda::Function") {
		_, err := store.PutObject(ctx, &s3.PutObjectInput{
			Bucket: aws.String(Bucket), Key: aws.String(f.ID + ".zip"), Body: bytes.NewReader(archive.Bytes()),
		})
		if err != nil {
			return fmt.Errorf("storing archive: %w", err)
		}
	}
	return nil
}

func create(ctx context.Context, cloud *cloudformation.Client, name string, body map[string]any,
	given map[string]string) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding template: %w", err)
	}
	var parameters []cfn.Parameter
	for _, key := range slices.Sorted(maps.Keys(given)) {
		parameters = append(parameters, cfn.Parameter{ParameterKey: aws.String(key), ParameterValue: aws.String(given[key])})
	}
	_, err = cloud.CreateStack(ctx, &cloudformation.CreateStackInput{
		StackName: &name, TemplateBody: aws.String(string(text)), Parameters: parameters,
		Capabilities: []cfn.Capability{cfn.CapabilityCapabilityNamedIam, cfn.CapabilityCapabilityAutoExpand},
	})
	if err != nil {
		return fmt.Errorf("creating: %w", err)
	}
	out, err := cloud.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if err != nil {
		return fmt.Errorf("describing: %w", err)
	}
	if len(out.Stacks) != 1 || out.Stacks[0].StackStatus != cfn.StackStatusCreateComplete {
		return errors.New("the emulator did not complete the stack")
	}
	return nil
}

// read adds one deployed resource.
func (d *Stack) read(ctx context.Context, cfg aws.Config, r cfn.StackResource) error {
	id, physical := aws.ToString(r.LogicalResourceId), aws.ToString(r.PhysicalResourceId)
	switch aws.ToString(r.ResourceType) {
	case "AWS::DynamoDB::Table":
		d.Tables[id] = physical
	case "AWS::SQS::Queue":
		out, err := sqs.NewFromConfig(cfg).GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: &physical, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
		})
		if err != nil {
			return fmt.Errorf("describing queue: %w", err)
		}
		d.Queues[id] = Queue{URL: physical, ARN: out.Attributes["QueueArn"]}
	case "AWS::KMS::Key":
		out, err := kms.NewFromConfig(cfg).DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: &physical})
		if err != nil {
			return fmt.Errorf("describing key: %w", err)
		}
		d.Keys[id] = aws.ToString(out.KeyMetadata.Arn)
	case "AWS::Lambda::Function":
		f, err := readFunction(ctx, lambda.NewFromConfig(cfg), physical)
		if err != nil {
			return err
		}
		d.Functions[id] = f
	}
	return nil
}
