package queue

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const lambdaRecord = `{"messageId":"m","receiptHandle":"r","body":"{\"type\":\"\u00e9\\\"\\\\\"}",` +
	`"attributes":{"ApproximateReceiveCount":"3","AWSTraceHeader":"Root=1","SentTimestamp":"1545082649183"},` +
	`"messageAttributes":{` +
	`"version":{"stringValue":"1","stringListValues":[],"binaryListValues":[],"dataType":"String"},` +
	`"other":{"stringValue":"é","stringListValues":[],"binaryListValues":[],"dataType":"String"}},` +
	`"md5OfMessageAttributes":"0","md5OfBody":"e4e6","eventSource":"aws:sqs","eventSourceARN":"arn","awsRegion":"r"}`

// otherRecord differs from it in everything, by nothing but a letter or a digit.
var otherRecord = strings.NewReplacer(`"m"`, `"n"`, `"r"`, `"s"`, `"3"`, `"4"`, `1545082649183`, `1545082649184`,
	`"1"`, `"2"`, `"é"`, `"è"`, `"arn"`, `"nra"`, `"other"`, `"ohter"`, `type`, `epyt`).Replace(lambdaRecord)

var asLambdaWrites = []string{lambdaRecord, `{}`, `{"body":""}`, `{"attributes":{},"messageAttributes":{}}`}

func TestScan_takesWhatLambdaWrites(t *testing.T) {
	want := Record{
		MessageID: "m", ReceiptHandle: "r", Body: []byte(`{"type":"é\"\\"}`), EventSourceARN: "arn",
		Attributes: System{ReceiveCount: "3", SentAt: "1545082649183"},
		MessageAttributes: AttributeList{
			{Name: "version", StringValue: "1", DataType: "String"}, {Name: "other", StringValue: "é", DataType: "String"},
		},
	}
	got, ok := scan([]byte(`{"Records":[` + lambdaRecord + `,{"body":"2"},` + lambdaRecord + `]}`))
	if diff := cmp.Diff([]Record{want, {Body: []byte("2")}, want}, got); !ok || diff != "" {
		t.Errorf("%v (-want +got)\n%s", ok, diff)
	}
	for _, record := range asLambdaWrites {
		if _, ok := scan([]byte(`{"Records":[` + record + `]}`)); !ok {
			t.Errorf("does not take %s", record)
		}
	}
}

// A text is shared with the record before only where it is the same.
func TestScan_keepsRecordsApart(t *testing.T) {
	payload := []byte(`{"Records":[` + lambdaRecord + `,` + otherRecord + `,` + lambdaRecord + `]}`)
	want, err := reflected(payload)
	got, ok := scan(payload)
	clear(payload) // nothing is shared with it
	if diff := cmp.Diff(want, got, inAnyOrder); err != nil || !ok || diff != "" {
		t.Errorf("%v, %v (-by reflection +got)\n%s", err, ok, diff)
	}
}

// Reflection then says what it is, or what is wrong.
func TestScan_leavesWhatLambdaDoesNotWrite(t *testing.T) {
	whole := `{"Records":[` + lambdaRecord + `]}`
	for end := range whole {
		if _, ok := scan([]byte(whole[:end])); ok {
			t.Errorf("takes %s", whole[:end])
		}
	}
	replaced := func(from, to string) string { return strings.Replace(whole, from, to, 1) }
	for _, event := range []string{
		``, `{}`, `{"Records":[]}`, `{"Records":null}`, whole + " ", whole + "}", " " + whole,
		replaced(`,"body"`, `, "body"`), replaced(`"body":`, `"body": `), replaced(`"m"`, `"\u006d"`), replaced(`"m"`, `7`),
		replaced(`"m"`, `null`), replaced(`"aws:sqs"`, `{}`), replaced(`"Root=1"`, `1`), replaced(`"m"`, "\"\xff\""),
		replaced(`e4e6`, "\xff"), replaced(`\u00e9`, `\q`), replaced(`\u00e9`, "\n"), replaced(`\u00e9`, `\ud800`),
		replaced(`"stringListValues"`, `"x"`), replaced(`"String"`, `"Number"`), replaced(`,"dataType":"String"}`, `}`),
		replaced(`"md5OfBody":"e4e6",`, `"md5OfBody":"e4e6"`), replaced(`"md5OfBody":`, `"md5OfBody"`),
		replaced(`"version":`, `"ve\u0072sion":`),
	} {
		if _, ok := scan([]byte(event)); ok {
			t.Errorf("takes %s", event)
		}
	}
}
