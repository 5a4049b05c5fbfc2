//go:build emulator

package testkit_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/herald-webhooks/herald/internal/testkit"
)

func TestTables_areThoseOfTheTemplate(t *testing.T) {
	cfg := testkit.Moto(t)
	names := testkit.Tables(t, cfg)
	client := dynamodb.NewFromConfig(cfg)
	want := map[string][]string{
		names.Endpoints: nil, names.ApiKeys: {"by-tenant"}, names.Deliveries: {"open-by-endpoint"},
		names.DeadLetters: {"by-endpoint", "by-tenant", "by-status"}, names.Backlog: {"by-due"}, names.EndpointHealth: nil,
	}
	for table, indexes := range want {
		got, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(table)})
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, index := range got.Table.GlobalSecondaryIndexes {
			found[*index.IndexName] = true
		}
		for _, index := range indexes {
			if !found[index] {
				t.Errorf("table %s has no index %s", table, index)
			}
		}
	}
}

func TestNewQueue_redrives(t *testing.T) {
	cfg := testkit.Moto(t)
	dead := testkit.NewQueue(t, cfg, "dead", testkit.QueueOptions{})
	queue := testkit.NewQueue(t, cfg, "work",
		testkit.QueueOptions{Visibility: time.Second, DeadLetter: dead, MaxReceive: 1})
	client := sqs.NewFromConfig(cfg)
	if _, err := client.SendMessage(t.Context(),
		&sqs.SendMessageInput{QueueUrl: &queue.URL, MessageBody: aws.String("hello")}); err != nil {
		t.Fatal(err)
	}
	if got := testkit.Receive(t, cfg, queue, 5*time.Second); len(got) != 1 || *got[0].Body != "hello" {
		t.Fatalf("received %v, want the one message", got)
	}
	deadline := time.Now().Add(20 * time.Second)
	for len(testkit.Receive(t, cfg, dead, 0)) == 0 {
		if time.Now().After(deadline) {
			t.Fatal("the message never reached the dead-letter queue")
		}
		testkit.Receive(t, cfg, queue, 0)
		time.Sleep(100 * time.Millisecond)
	}
}

func TestKey_demandsItsEncryptionContext(t *testing.T) {
	cfg := testkit.Moto(t)
	client := kms.NewFromConfig(cfg)
	key := testkit.Key(t, cfg)
	context := map[string]string{"purpose": "test"}
	sealed, err := client.Encrypt(t.Context(),
		&kms.EncryptInput{KeyId: &key, Plaintext: []byte("secret"), EncryptionContext: context})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := client.Decrypt(t.Context(),
		&kms.DecryptInput{CiphertextBlob: sealed.CiphertextBlob, EncryptionContext: context})
	if err != nil || string(opened.Plaintext) != "secret" {
		t.Fatalf("decrypt gave %v, %v", opened, err)
	}
	if _, err := client.Decrypt(t.Context(), &kms.DecryptInput{CiphertextBlob: sealed.CiphertextBlob}); err == nil {
		t.Error("decrypt without the encryption context succeeded")
	}
}
