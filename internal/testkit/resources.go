package testkit

import (
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// TableNames holds the names of one test's own tables, by logical id of the template.
type TableNames struct {
	Endpoints, ApiKeys, Deliveries, DeadLetters, Backlog, EndpointHealth, Jobs string
}

// Tables creates the template's tables, with their keys and indexes, on demand, under names of the test's own.
func Tables(t testing.TB, cfg aws.Config) TableNames {
	t.Helper()
	definitions, err := definitions()
	if err != nil {
		t.Fatalf("testkit: reading the template: %v", err)
	}
	client, suffix := dynamodb.NewFromConfig(cfg), "-"+unique()
	create := func(id string) string {
		input := definitions[id]
		input.TableName, input.BillingMode = aws.String(id+suffix), dynamotypes.BillingModePayPerRequest
		if _, err := client.CreateTable(t.Context(), &input); err != nil {
			t.Fatalf("testkit: creating table %s: %v", id, err)
		}
		return id + suffix
	}
	return TableNames{
		Endpoints: create("Endpoints"), ApiKeys: create("ApiKeys"), Deliveries: create("Deliveries"),
		DeadLetters: create("DeadLetters"), Backlog: create("Backlog"), EndpointHealth: create("EndpointHealth"),
		Jobs: create("Jobs"),
	}
}

// definitions are the keys and indexes of the template's tables, by logical id. CloudFormation names them as
// the API does.
var definitions = sync.OnceValues(func() (map[string]dynamodb.CreateTableInput, error) {
	root, err := tools.Root()
	if err != nil {
		return nil, err
	}
	template, err := cfn.Read(filepath.Join(root, "template.yaml"))
	if err != nil {
		return nil, err
	}
	tables := map[string]dynamodb.CreateTableInput{}
	for id, table := range template.OfType("AWS::DynamoDB::Table") {
		shape := cfn.Object{}
		for _, property := range []string{"KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes"} {
			shape[property] = table.Properties[property]
		}
		encoded, err := json.Marshal(shape)
		if err != nil {
			return nil, err
		}
		var input dynamodb.CreateTableInput
		if err := json.Unmarshal(encoded, &input); err != nil {
			return nil, err
		}
		for n := range input.GlobalSecondaryIndexes { // a condition of the template's, which is not decided here
			input.GlobalSecondaryIndexes[n].ProvisionedThroughput = nil
		}
		tables[id] = input
	}
	return tables, nil
})

// Queue names a queue the three ways AWS does.
type Queue struct{ Name, URL, ARN string }

// NewQueue creates a standard queue called name and a suffix of the test's own. A message that was received
// stays invisible for an hour.
func NewQueue(t testing.TB, cfg aws.Config, name string) Queue {
	t.Helper()
	client := sqs.NewFromConfig(cfg)
	name += "-" + unique()
	attributes := map[string]string{"VisibilityTimeout": "3600", "MaximumMessageSize": "278528"}
	created, err := client.CreateQueue(t.Context(),
		&sqs.CreateQueueInput{QueueName: aws.String(name), Attributes: attributes})
	if err != nil {
		t.Fatalf("testkit: creating queue %s: %v", name, err)
	}
	described, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: created.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn},
	})
	if err != nil {
		t.Fatalf("testkit: reading queue %s: %v", name, err)
	}
	return Queue{Name: name, URL: *created.QueueUrl, ARN: described.Attributes["QueueArn"]}
}

// Receive takes up to ten messages with all their attributes, waiting up to wait for the first.
func Receive(t testing.TB, cfg aws.Config, queue Queue, wait time.Duration) []sqstypes.Message {
	t.Helper()
	answer, err := sqs.NewFromConfig(cfg).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: aws.String(queue.URL), MaxNumberOfMessages: 10, WaitTimeSeconds: int32(wait / time.Second),
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{sqstypes.MessageSystemAttributeNameAll},
	})
	if err != nil {
		t.Fatalf("testkit: receiving from %s: %v", queue.Name, err)
	}
	return answer.Messages
}

// Key creates a symmetric KMS key and returns its ARN.
func Key(t testing.TB, cfg aws.Config) string {
	t.Helper()
	key, err := kms.NewFromConfig(cfg).CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatalf("testkit: creating key: %v", err)
	}
	return *key.KeyMetadata.Arn
}

// LogGroup creates a log group and returns its name.
func LogGroup(t testing.TB, cfg aws.Config, name string) string {
	t.Helper()
	name += "-" + unique()
	_, err := cloudwatchlogs.NewFromConfig(cfg).CreateLogGroup(t.Context(),
		&cloudwatchlogs.CreateLogGroupInput{LogGroupName: &name})
	if err != nil {
		t.Fatalf("testkit: creating log group %s: %v", name, err)
	}
	return name
}

// LogLines are a log group's, oldest first.
func LogLines(t testing.TB, cfg aws.Config, group string) (lines []string) {
	t.Helper()
	out, err := cloudwatchlogs.NewFromConfig(cfg).FilterLogEvents(t.Context(),
		&cloudwatchlogs.FilterLogEventsInput{LogGroupName: &group})
	if err != nil {
		t.Fatalf("testkit: reading log group %s: %v", group, err)
	}
	for _, e := range out.Events {
		lines = append(lines, *e.Message)
	}
	return lines
}

// unique returns a short random string for names that must not collide between tests.
func unique() string { return rand.Text()[:10] }
