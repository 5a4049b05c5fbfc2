package verify

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/kit/receiver"
)

//go:embed aws/receiver.yaml
var receiverTemplate string

// AWS is a receiver in a small separate stack: a function with a URL, which puts requests on a queue.
type AWS struct {
	stack      string // its name
	secret     string // in its address
	url, queue string
	cloud      *cloudformation.Client
	sqs        *sqs.Client
	requests   map[string][]receiver.Request // by inbox
}

// StartOnAWS makes the receiver's stack. It first deletes the stack of an earlier run, which holds that run's requests,
// or waits for its deletion. Without such a stack, CloudFormation has nothing to delete, and the wait ends at once.
func StartOnAWS(ctx context.Context, cfg aws.Config, verified string) (*AWS, error) {
	r := &AWS{
		stack: verified + "-verify-receiver", secret: rand.Text() + rand.Text(), cloud: cloudformation.NewFromConfig(cfg),
		sqs: sqs.NewFromConfig(cfg), requests: map[string][]receiver.Request{},
	}
	if err := r.Close(ctx); err != nil {
		return nil, fmt.Errorf("of an earlier run: %w", err)
	}
	concurrency, err := reservable(ctx, lambda.NewFromConfig(cfg))
	if err != nil {
		return nil, err
	}
	if _, err := r.cloud.CreateStack(ctx, &cloudformation.CreateStackInput{
		StackName: &r.stack, TemplateBody: &receiverTemplate, Capabilities: []types.Capability{types.CapabilityCapabilityIam},
		OnFailure: types.OnFailureDelete,
		Parameters: []types.Parameter{
			{ParameterKey: aws.String("Secret"), ParameterValue: &r.secret},
			{ParameterKey: aws.String("Concurrency"), ParameterValue: aws.String(strconv.Itoa(concurrency))},
		},
	}); err != nil {
		return nil, fmt.Errorf("creating the stack %s: %w", r.stack, err)
	}
	out, err := cloudformation.NewStackCreateCompleteWaiter(r.cloud).WaitForOutput(ctx,
		&cloudformation.DescribeStacksInput{StackName: &r.stack}, patience)
	if err != nil {
		return nil, fmt.Errorf("waiting for the stack %s: %w", r.stack, err)
	}
	for _, o := range out.Stacks[0].Outputs {
		switch aws.ToString(o.OutputKey) {
		case "Url":
			r.url = strings.TrimSuffix(aws.ToString(o.OutputValue), "/")
		case "Queue":
			r.queue = aws.ToString(o.OutputValue)
		}
	}
	return r, nil
}

const (
	patience = 5 * time.Minute // for CloudFormation

	// fewProcesses of deliver leave a backlog, with which fairQueues can see an effect. Each makes 10 attempts at a time.
	fewProcesses        = 10
	receiverConcurrency = 10 * fewProcesses
	leftByLambda        = 100 // without a reservation, which Lambda keeps for all other functions
)

// reservable returns the concurrency to reserve for the receiver. The reservation is also a limit: a stranger who calls
// the receiver cannot use up more. It is 0 in an account that is too small for Lambda to accept a reservation.
func reservable(ctx context.Context, account *lambda.Client) (int, error) {
	out, err := account.GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err != nil {
		return 0, fmt.Errorf("reading the account's concurrency (lambda:GetAccountSettings): %w", err)
	}
	if limit := out.AccountLimit; limit == nil ||
		aws.ToInt32(limit.UnreservedConcurrentExecutions) < receiverConcurrency+leftByLambda {
		return 0, nil
	}
	return receiverConcurrency, nil
}

// Close deletes the receiver's stack, and waits until it is gone.
func (r *AWS) Close(ctx context.Context) error {
	_, err := r.cloud.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: &r.stack})
	if err == nil {
		err = cloudformation.NewStackDeleteCompleteWaiter(r.cloud).Wait(ctx,
			&cloudformation.DescribeStacksInput{StackName: &r.stack}, patience)
	}
	if err != nil {
		return fmt.Errorf("deleting the stack %s: %w", r.stack, err)
	}
	return nil
}

// URL is the function's, with the secret.
func (r *AWS) URL() string { return r.url + "/" + r.secret }

// Requests reads the queue, and returns the inbox's requests.
func (r *AWS) Requests(ctx context.Context, inbox string) ([]receiver.Request, error) {
	for {
		out, err := r.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &r.queue, MaxNumberOfMessages: 10, WaitTimeSeconds: 1,
		})
		if err != nil {
			return nil, fmt.Errorf("receiving the receiver's requests: %w", err)
		}
		if len(out.Messages) == 0 {
			break
		}
		for _, m := range out.Messages {
			var got receiver.Request
			if err := json.Unmarshal([]byte(aws.ToString(m.Body)), &got); err != nil {
				return nil, fmt.Errorf("reading a request: %w", err)
			}
			r.requests[got.Inbox] = append(r.requests[got.Inbox], got)
			_, err := r.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &r.queue, ReceiptHandle: m.ReceiptHandle})
			if err != nil {
				return nil, fmt.Errorf("deleting a request: %w", err)
			}
		}
	}
	slices.SortStableFunc(r.requests[inbox], func(a, b receiver.Request) int { return a.At.Compare(b.At) })
	return slices.Clone(r.requests[inbox]), nil
}
