package awscall_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// still answers without a network.
type still struct{}

func (still) Do(*http.Request) (*http.Response, error) {
	body := io.NopCloser(strings.NewReader(`{"Items":[]}`))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body}, nil
}

// BenchmarkQuery compares what a call costs beside the network.
func BenchmarkQuery(b *testing.B) {
	cfg := newFakeAWS(b).config()
	cfg.HTTPClient = still{}
	tables, _ := clients(b, cfg)
	in := &dynamodb.QueryInput{TableName: aws.String("T"), ExpressionAttributeValues: map[string]types.AttributeValue{
		":a": &types.AttributeValueMemberS{Value: "tenant"}}}
	both := ofDynamoDB(tables.Client.Query, tables.Query)
	for name, call := range map[string]method[dynamodb.QueryInput, dynamodb.QueryOutput]{
		"sdk": both.sdk, "ours": both.ours,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := call(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
