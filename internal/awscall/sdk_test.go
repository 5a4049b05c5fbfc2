package awscall_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// method is one call, of the SDK's client or of ours.
type method[I, O any] func(context.Context, *I) (*O, error)

type dynamoDBCall[I, O any] = func(context.Context, *I, ...func(*dynamodb.Options)) (*O, error)

func ofDynamoDB[I, O any](sdk, ours dynamoDBCall[I, O]) calls[I, O] {
	return calls[I, O]{
		func(ctx context.Context, in *I) (*O, error) { return sdk(ctx, in) },
		func(ctx context.Context, in *I) (*O, error) { return ours(ctx, in) },
	}
}

type sqsCall[I, O any] = func(context.Context, *I, ...func(*sqs.Options)) (*O, error)

func ofSQS[I, O any](sdk, ours sqsCall[I, O]) calls[I, O] {
	return calls[I, O]{
		func(ctx context.Context, in *I) (*O, error) { return sdk(ctx, in) },
		func(ctx context.Context, in *I) (*O, error) { return ours(ctx, in) },
	}
}

// calls are the same call of both clients.
type calls[I, O any] struct{ sdk, ours method[I, O] }

// agree makes a call through the SDK and through ours and compares what was asked and what came of it.
func agree[I, O any](t rapid.TB, f *fakeAWS, in *I, answers []answer, of calls[I, O]) {
	t.Helper()
	f.plays(answers)
	want, wantErr := of.sdk(context.Background(), in)
	wantAsked := f.plays(answers)
	got, err := of.ours(context.Background(), in)
	if diff := cmp.Diff(wantAsked, f.plays(nil)); diff != "" || len(wantAsked) == 0 {
		t.Errorf("asked %d times (-the SDK +ours)\n%s", len(wantAsked), diff)
	}
	exported := cmp.Exporter(func(reflect.Type) bool { return true })
	if diff := cmp.Diff(want, got, exported, cmpopts.IgnoreTypes(middleware.Metadata{})); diff != "" {
		t.Errorf("answered (-the SDK +ours)\n%s", diff)
	}
	if diff := cmp.Diff(factsOf(wantErr), factsOf(err)); diff != "" {
		t.Errorf("error (-the SDK +ours)\n%s", diff)
	}
}

// facts are what callers find in an error.
type facts struct {
	Text, Code, RequestID        string
	Throughput, Limit, Condition bool
	Tries                        int
}

var ports = regexp.MustCompile(`127\.0\.0\.1:\d+`)

func factsOf(err error) (f facts) {
	if err == nil {
		return f
	}
	f.Text = ports.ReplaceAllString(err.Error(), "address")
	var api smithy.APIError
	if errors.As(err, &api) {
		f.Code = api.ErrorCode()
	}
	var response interface{ ServiceRequestID() string }
	if errors.As(err, &response) {
		f.RequestID = response.ServiceRequestID()
	}
	var tries *retry.MaxAttemptsError
	if errors.As(err, &tries) {
		f.Tries = tries.Attempt
	}
	var throughput *types.ProvisionedThroughputExceededException
	var limit *types.RequestLimitExceeded
	var condition *types.ConditionalCheckFailedException
	f.Throughput, f.Limit, f.Condition = errors.As(err, &throughput), errors.As(err, &limit), errors.As(err, &condition)
	return f
}

// values are attribute values of all types, nested once.
func values(nested bool) *rapid.Generator[types.AttributeValue] {
	return rapid.Custom(func(t *rapid.T) types.AttributeValue {
		last := 5
		if nested {
			last = 7
		}
		switch rapid.IntRange(0, last).Draw(t, "kind") {
		case 0:
			return &types.AttributeValueMemberS{Value: rapid.String().Draw(t, "text")}
		case 1:
			return &types.AttributeValueMemberN{Value: fmt.Sprint(rapid.Int64().Draw(t, "number"))}
		case 2:
			return &types.AttributeValueMemberB{Value: rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")}
		case 3:
			return &types.AttributeValueMemberBOOL{Value: rapid.Bool().Draw(t, "bool")}
		case 4:
			return &types.AttributeValueMemberNULL{Value: true}
		case 5:
			return &types.AttributeValueMemberSS{Value: rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "set")}
		case 6:
			return &types.AttributeValueMemberL{Value: rapid.SliceOfN(values(false), 0, 3).Draw(t, "list")}
		default:
			return &types.AttributeValueMemberM{Value: rapid.MapOfN(rapid.String(), values(false), 0, 3).Draw(t, "map")}
		}
	})
}

func items() *rapid.Generator[map[string]types.AttributeValue] {
	return rapid.MapOfN(rapid.String(), values(true), 1, 4)
}

func TestDynamoDB_asksWhatTheSDKAsks(t *testing.T) {
	f := newFakeAWS(t)
	tables, _ := clients(t, f.config())
	rapid.Check(t, func(r *rapid.T) {
		item, key, table := items().Draw(r, "item"), items().Draw(r, "key"), rapid.StringN(1, 9, -1).Draw(r, "table")
		text := rapid.Ptr(rapid.StringN(1, 9, -1), true)
		names := rapid.MapOfN(rapid.String(), rapid.String(), 0, 2).Draw(r, "names")
		flag := rapid.Ptr(rapid.Bool(), true).Draw(r, "flag")
		agree(r, f, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: {
			{PutRequest: &types.PutRequest{Item: item}}, {DeleteRequest: &types.DeleteRequest{Key: key}},
		}}}, ok("{}"), ofDynamoDB(tables.Client.BatchWriteItem, tables.BatchWriteItem))
		agree(r, f, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {
			Keys: []map[string]types.AttributeValue{key, item}, ConsistentRead: flag,
			ProjectionExpression: text.Draw(r, "projection"), ExpressionAttributeNames: names,
		}}}, ok("{}"), ofDynamoDB(tables.Client.BatchGetItem, tables.BatchGetItem))
		agree(r, f, &dynamodb.QueryInput{
			TableName: &table, IndexName: text.Draw(r, "index"), KeyConditionExpression: text.Draw(r, "condition"),
			FilterExpression: text.Draw(r, "filter"), ExpressionAttributeValues: item, ExclusiveStartKey: key,
			ExpressionAttributeNames: names, ScanIndexForward: flag, Select: types.SelectCount,
			Limit: rapid.Ptr(rapid.Int32Min(1), true).Draw(r, "limit"),
		}, ok("{}"), ofDynamoDB(tables.Client.Query, tables.Query))
	})
}

func TestSQS_asksWhatTheSDKAsks(t *testing.T) {
	f := newFakeAWS(t)
	_, queues := clients(t, f.config())
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.String().Draw(r, "text")
		agree(r, f, &sqs.SendMessageBatchInput{QueueUrl: &f.URL, Entries: []sqstypes.SendMessageBatchRequestEntry{{
			Id: aws.String("0"), MessageBody: &text, DelaySeconds: rapid.Int32().Draw(r, "delay"),
			MessageGroupId: rapid.Ptr(rapid.String(), true).Draw(r, "group"),
			MessageAttributes: map[string]sqstypes.MessageAttributeValue{
				text: {DataType: aws.String("String"), StringValue: &text},
				"b":  {DataType: aws.String("Binary"), BinaryValue: []byte(text)},
			},
		}}}, ok("{}"), ofSQS(queues.Client.SendMessageBatch, queues.SendMessageBatch))
		agree(r, f, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &f.URL,
			Entries: []sqstypes.ChangeMessageVisibilityBatchRequestEntry{{
				Id: aws.String("0"), ReceiptHandle: &text, VisibilityTimeout: rapid.Int32().Draw(r, "seconds"),
			}},
		}, ok("{}"), ofSQS(queues.Client.ChangeMessageVisibilityBatch, queues.ChangeMessageVisibilityBatch))
	})
}

// failures are what AWS and the way there can do to a call.
func failures(good string) map[string][]answer {
	refused := func(status int, code string) answer {
		return answer{status: status, body: `{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"not now"}`,
			header: map[string]string{"X-Amzn-Requestid": "id-1"}}
	}
	sum := func(body string) map[string]string {
		return map[string]string{"X-Amz-Crc32": strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10)}
	}
	return map[string][]answer{
		"an answer with its checksum": {{status: 200, body: good, header: sum(good)}},
		"not allowed":                 {refused(400, "AccessDeniedException")},
		"wrong":                       {refused(400, "ValidationException")},
		"a condition":                 {refused(400, "ConditionalCheckFailedException")},
		"throttled once": {
			refused(400, "ProvisionedThroughputExceededException"), {status: 200, body: good},
		},
		"throttled for ever":               {refused(400, "ProvisionedThroughputExceededException")},
		"throttled in general":             {refused(400, "ThrottlingException")},
		"limited":                          {refused(400, "RequestLimitExceeded")},
		"broken":                           {refused(500, "InternalServerError")},
		"unavailable once, without a body": {{status: 503}, {status: 200, body: good}},
		"a gateway that speaks HTML":       {{status: 502, body: "<html>"}},
		"no JSON":                          {{status: 200, body: "<html>"}},
		"half an answer":                   {{status: 200, body: good[:len(good)/2]}},
		"an answer that is empty":          {{status: 200}},
		"hung up once":                     {{}, {status: 200, body: good}},
		"hung up for ever":                 {{}},
		"of another shape":                 {{status: 200, body: `{"Responses":[1],"Items":2,"Failed":3,"Successful":4}`}},
		"an error's code in the header": {{status: 400, body: `{}`, header: map[string]string{
			"X-Amzn-Errortype": "ResourceNotFoundException:http://internal/"}}},
		"a query error": {{status: 400, body: `{"__type":"x#QueueDoesNotExist"}`, header: map[string]string{
			"X-Amzn-Query-Error": "AWS.SimpleQueueService.NonExistentQueue;Sender"}}},
	}
}

func TestDynamoDB_answersAndFailsAsTheSDKDoes(t *testing.T) {
	const item = `{"a":{"S":"é\u00e9\"\n"},"n":{"N":"12"},"b":{"B":"AAEC"},"l":{"L":[{"BOOL":true},{"NULL":true}]},` +
		`"m":{"M":{"x":{"SS":["y"]}}}}`
	const read = `{"Responses":{"T":[` + item + `],"U":[]},` +
		`"UnprocessedKeys":{"T":{"Keys":[` + item + `],"ConsistentRead":true}}}`
	const written = `{"UnprocessedItems":{"T":[{"PutRequest":{"Item":` + item + `}},` +
		`{"DeleteRequest":{"Key":` + item + `}}]}}`
	const found = `{"Items":[` + item + `],"Count":1,"ScannedCount":7,"LastEvaluatedKey":` + item + `,"X":[{"y":null}]}`
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	for name := range failures("{}") {
		t.Run(name, func(t *testing.T) {
			f := newFakeAWS(t)
			tables, _ := clients(t, f.config())
			agree(t, f, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{"T": {Keys: []map[string]types.AttributeValue{key}}},
			}, failures(read)[name], ofDynamoDB(tables.Client.BatchGetItem, tables.BatchGetItem))
			agree(t, f, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{"T": {{PutRequest: &types.PutRequest{Item: key}}}},
			}, failures(written)[name], ofDynamoDB(tables.Client.BatchWriteItem, tables.BatchWriteItem))
			agree(t, f, &dynamodb.QueryInput{TableName: aws.String("T")}, failures(found)[name],
				ofDynamoDB(tables.Client.Query, tables.Query))
		})
	}
}

func TestSQS_answersAndFailsAsTheSDKDoes(t *testing.T) {
	const sent = `{"Successful":[{"Id":"0","MessageId":"m-0","MD5OfMessageBody":"5d41402abc4b2a76b9719d911017c592"}],` +
		`"Failed":[{"Id":"1","SenderFault":true,"Code":"InvalidParameterValue","Message":"no"}]}`
	for name, answers := range failures(sent) {
		t.Run(name, func(t *testing.T) {
			f := newFakeAWS(t)
			_, queues := clients(t, f.config())
			agree(t, f, &sqs.SendMessageBatchInput{QueueUrl: &f.URL, Entries: []sqstypes.SendMessageBatchRequestEntry{
				{Id: aws.String("0"), MessageBody: aws.String("hello")}, {Id: aws.String("1"), MessageBody: aws.String("you")},
			}}, answers, ofSQS(queues.Client.SendMessageBatch, queues.SendMessageBatch))
			agree(t, f, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &f.URL,
				Entries: []sqstypes.ChangeMessageVisibilityBatchRequestEntry{{Id: aws.String("0"), ReceiptHandle: aws.String("r")}},
			}, answers, ofSQS(queues.Client.ChangeMessageVisibilityBatch, queues.ChangeMessageVisibilityBatch))
		})
	}
}

// The SDK computes this checksum and forgets to look at it.
func TestDynamoDB_refusesWhatItsChecksumDoesNotMatch(t *testing.T) {
	f := newFakeAWS(t)
	tables, _ := clients(t, f.config())
	for _, sum := range []string{"1", "-1", "x", "99999999999"} {
		f.plays([]answer{{status: 200, body: `{"Items":[]}`, header: map[string]string{"X-Amz-Crc32": sum}}})
		out, err := tables.Query(t.Context(), &dynamodb.QueryInput{TableName: aws.String("T")})
		if want := strconv.Quote(sum); err == nil || !strings.Contains(err.Error(), want) || out != nil {
			t.Errorf("%q: %v, %v", sum, out, err)
		}
	}
}

func TestSQS_refusesAnAnswerAboutAnotherBody(t *testing.T) {
	f := newFakeAWS(t)
	_, queues := clients(t, f.config())
	f.plays(ok(`{"Successful":[{"Id":"0","MessageId":"m-0","MD5OfMessageBody":"00"}]}`))
	in := &sqs.SendMessageBatchInput{QueueUrl: &f.URL, Entries: []sqstypes.SendMessageBatchRequestEntry{
		{Id: aws.String("0"), MessageBody: aws.String("hello")},
	}}
	_, sdk := queues.Client.SendMessageBatch(t.Context(), in)
	out, err := queues.SendMessageBatch(t.Context(), in)
	if sdk == nil || err == nil || !strings.Contains(err.Error(), `"m-0"`) || out != nil {
		t.Errorf("the SDK: %v; ours: %v, %v", sdk, out, err)
	}
}
