package testkit

import (
	"crypto/rand"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// TableNames holds the names of one test's own tables, by logical id of the template.
type TableNames struct {
	Endpoints, ApiKeys, Deliveries, DeadLetters, Backlog, EndpointHealth string
}

// Tables creates the six tables with the keys and indexes of the template, on demand, under names of the test's own.
func Tables(t testing.TB, cfg aws.Config) TableNames {
	t.Helper()
	suffix := "-" + unique()
	names := TableNames{
		Endpoints:   "Endpoints" + suffix,
		ApiKeys:     "ApiKeys" + suffix,
		Deliveries:  "Deliveries" + suffix,
		DeadLetters: "DeadLetters" + suffix,

		Backlog:        "Backlog" + suffix,
		EndpointHealth: "EndpointHealth" + suffix,
	}
	client := dynamodb.NewFromConfig(cfg)
	createTable(t, client, names.Endpoints, keys{"tenant_id", "endpoint_id"}, nil)
	createTable(t, client, names.ApiKeys, keys{hash: "key_id"}, map[string]keys{"by-tenant": {"tenant_id", "key_id"}})
	createTable(t, client, names.Deliveries, keys{hash: "delivery_id"}, map[string]keys{
		"open-by-endpoint": {"open_endpoint_id", "created_at"},
	})
	createTable(t, client, names.DeadLetters, keys{hash: "delivery_id"}, map[string]keys{
		"by-endpoint": {"endpoint_id", "died_at"}, "by-tenant": {"tenant_id", "died_at"}, "by-status": {"status", "died_at"},
	})
	createTable(t, client, names.Backlog, keys{"endpoint_shard", "position"}, map[string]keys{
		"by-due": {"due_shard", "due_at"},
	})
	createTable(t, client, names.EndpointHealth, keys{"scope", "name"}, nil)
	return names
}

// projectionOf is what the template projects into the index of a table.
func projectionOf(index string, k keys) *dynamotypes.Projection {
	switch {
	case index == "open-by-endpoint", index == "by-due":
		return &dynamotypes.Projection{ProjectionType: dynamotypes.ProjectionTypeKeysOnly}
	case k.sort == "died_at": // a dead letter without its sealed parts
		attributes := []string{
			"tenant_id", "endpoint_id", "event_id", "event_type", "status", "reason", "attempts", "last_status", "replay",
			"replay_count", "created_at", "updated_at", "expires_at",
		}
		return &dynamotypes.Projection{
			ProjectionType:   dynamotypes.ProjectionTypeInclude,
			NonKeyAttributes: slices.DeleteFunc(attributes, func(name string) bool { return name == k.hash }),
		}
	}
	return &dynamotypes.Projection{ProjectionType: dynamotypes.ProjectionTypeAll}
}

// keys names a hash key and, when set, a range key; all of them are strings.
type keys struct{ hash, sort string }

func (k keys) schema() []dynamotypes.KeySchemaElement {
	schema := []dynamotypes.KeySchemaElement{{AttributeName: aws.String(k.hash), KeyType: dynamotypes.KeyTypeHash}}
	if k.sort != "" {
		schema = append(schema, dynamotypes.KeySchemaElement{
			AttributeName: aws.String(k.sort), KeyType: dynamotypes.KeyTypeRange,
		})
	}
	return schema
}

func createTable(t testing.TB, client *dynamodb.Client, name string, primary keys, indexes map[string]keys) {
	t.Helper()
	input := &dynamodb.CreateTableInput{
		TableName: aws.String(name), KeySchema: primary.schema(), BillingMode: dynamotypes.BillingModePayPerRequest,
	}
	attributes := map[string]bool{primary.hash: true, primary.sort: true}
	for index, k := range indexes {
		attributes[k.hash], attributes[k.sort] = true, true
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, dynamotypes.GlobalSecondaryIndex{
			IndexName: aws.String(index), KeySchema: k.schema(),
			Projection: projectionOf(index, k),
		})
	}
	delete(attributes, "")
	for attribute := range attributes {
		input.AttributeDefinitions = append(input.AttributeDefinitions, dynamotypes.AttributeDefinition{
			AttributeName: aws.String(attribute), AttributeType: dynamotypes.ScalarAttributeTypeS,
		})
	}
	if _, err := client.CreateTable(t.Context(), input); err != nil {
		t.Fatalf("testkit: creating table %s: %v", name, err)
	}
}

// QueueOptions says how a queue differs from a plain one; the zero value is a plain queue with Herald's 14
// days of retention.
type QueueOptions struct {
	Visibility time.Duration // default 30 s
	MaxSize    int           // MaximumMessageSize in bytes; default 278,528
	DeadLetter Queue         // redrive to this queue, when set
	MaxReceive int           // maxReceiveCount of that redrive; default 5
}

// Queue names a queue the three ways AWS does.
type Queue struct{ Name, URL, ARN string }

// NewQueue creates a standard queue called name and a suffix of the test's own.
func NewQueue(t testing.TB, cfg aws.Config, name string, options QueueOptions) Queue {
	t.Helper()
	client := sqs.NewFromConfig(cfg)
	name += "-" + unique()
	attributes := map[string]string{
		"MessageRetentionPeriod": "1209600",
		"VisibilityTimeout":      strconv.Itoa(int(or(options.Visibility, 30*time.Second) / time.Second)),
		"MaximumMessageSize":     strconv.Itoa(or(options.MaxSize, 278528)),
	}
	if options.DeadLetter.ARN != "" {
		attributes["RedrivePolicy"] = `{"deadLetterTargetArn":"` + options.DeadLetter.ARN +
			`","maxReceiveCount":` + strconv.Itoa(or(options.MaxReceive, 5)) + `}`
	}
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

// unique returns a short random string for names that must not collide between tests.
func unique() string { return rand.Text()[:10] }

func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
