//go:build emulator

package emulator

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func running(t *testing.T) aws.Config {
	t.Helper()
	e, err := Start(t.Context(), Options{LogFile: filepath.Join(t.TempDir(), "log")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(e.URL.String()),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}
}

// Where the kernel does not kill it, the closed pipe is how the emulator learns that its parent is gone.
func TestEmulator_endsWhenItsStandardInputCloses(t *testing.T) {
	e, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	if err := e.life.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-e.Done():
	case <-time.After(20 * time.Second):
		t.Error("the emulator outlived its standard input")
	}
}

func TestEmulator_losesAndRepeatsNothingInParallel(t *testing.T) {
	client := sqs.NewFromConfig(running(t))
	made, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("busy")})
	if err != nil {
		t.Fatal(err)
	}
	const senders, each = 8, 40
	var (
		work  sync.WaitGroup
		taken sync.Map
		count atomic.Int32
	)
	for i := range senders {
		work.Go(func() {
			for j := range each {
				body := strconv.Itoa(i*each + j)
				if _, err := client.SendMessage(t.Context(),
					&sqs.SendMessageInput{QueueUrl: made.QueueUrl, MessageBody: &body}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 4 {
		work.Go(func() {
			for count.Load() < senders*each && ctx.Err() == nil {
				for _, m := range receive(ctx, t, client, made.QueueUrl) {
					if _, again := taken.LoadOrStore(aws.ToString(m.Body), true); again {
						t.Errorf("message %s was received twice", aws.ToString(m.Body))
					}
					count.Add(1)
				}
			}
		})
	}
	work.Wait()
	if got := count.Load(); got != senders*each {
		t.Errorf("received %d of %d", got, senders*each)
	}
}

// receive takes and deletes a batch.
func receive(ctx context.Context, t *testing.T, client *sqs.Client, url *string) []types.Message {
	t.Helper()
	out, err := client.ReceiveMessage(ctx,
		&sqs.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: 1})
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, m := range out.Messages {
		if _, err := client.DeleteMessage(ctx,
			&sqs.DeleteMessageInput{QueueUrl: url, ReceiptHandle: m.ReceiptHandle}); err != nil {
			t.Error(err)
		}
	}
	return out.Messages
}

func TestEmulator_refusesAnEleventhAttribute(t *testing.T) {
	client := sqs.NewFromConfig(running(t))
	made, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("narrow")})
	if err != nil {
		t.Fatal(err)
	}
	attributes := map[string]types.MessageAttributeValue{}
	send := func() error {
		name := fmt.Sprint("a", len(attributes))
		attributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String("x")}
		_, one := client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: made.QueueUrl, MessageBody: aws.String("x"), MessageAttributes: attributes,
		})
		_, batch := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{
			QueueUrl: made.QueueUrl, Entries: []types.SendMessageBatchRequestEntry{{
				Id: aws.String("0"), MessageBody: aws.String("x"), MessageAttributes: attributes,
			}},
		})
		if (one == nil) != (batch == nil) {
			t.Errorf("%d attributes: alone %v, in a batch %v", len(attributes), one, batch)
		}
		return one
	}
	for range 10 {
		if err := send(); err != nil {
			t.Fatalf("%d attributes: %v", len(attributes), err)
		}
	}
	if err := send(); err == nil {
		t.Error("eleven attributes were taken")
	}
}
