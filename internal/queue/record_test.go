package queue

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// As in the Lambda Developer Guide, with an attribute of every kind.
const lambdaEvent = `{"Records":[{
	"messageId":"m1","receiptHandle":"r1","body":"{\"type\":\"\u00e9\"}",
	"attributes":{"ApproximateReceiveCount":"1","SentTimestamp":"1545082649183","SenderId":"AIDA"},
	"messageAttributes":{
		"version":{"stringValue":"1","stringListValues":[],"binaryListValues":[],"dataType":"String"},
		"blob":{"binaryValue":"AAE=","stringListValues":[],"binaryListValues":[],"dataType":"Binary"}
	},
	"md5OfBody":"e4e6","eventSource":"aws:sqs","eventSourceARN":"arn","awsRegion":"eu-central-1"
},{
	"messageId":"m2","receiptHandle":"r2","body":"{}",
	"attributes":{"ApproximateReceiveCount":"2","SentTimestamp":"1545082649185"},
	"messageAttributes":{"version":{"stringValue":"1","dataType":"String"}},"eventSourceARN":"arn"
}]}`

func TestRead_readsRecords(t *testing.T) {
	got, err := Read([]byte(lambdaEvent))
	if err != nil {
		t.Fatal(err)
	}
	want := []Record{{
		MessageID: "m1", ReceiptHandle: "r1", Body: []byte(`{"type":"é"}`), EventSourceARN: "arn",
		Attributes: System{ReceiveCount: "1", SentAt: "1545082649183"},
		MessageAttributes: AttributeList{
			{Name: "version", StringValue: "1", DataType: "String"},
			{Name: "blob", BinaryValue: []byte{0, 1}, DataType: "Binary"},
		},
	}, {
		MessageID: "m2", ReceiptHandle: "r2", Body: []byte(`{}`), EventSourceARN: "arn",
		Attributes:        System{ReceiveCount: "2", SentAt: "1545082649185"},
		MessageAttributes: AttributeList{{Name: "version", StringValue: "1", DataType: "String"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRead_readsAttributesWhateverElseTheyHold(t *testing.T) {
	for name, row := range map[string]struct {
		attributes string
		want       AttributeList
	}{
		"none": {`{}`, nil},
		"null": {`null`, nil},
		"text": {
			`{"a":{"stringValue":"x\"\u00e9","dataType":"String"}}`,
			AttributeList{{Name: "a", StringValue: `x"é`, DataType: "String"}},
		},
		"lists besides": {
			`{"a":{"stringListValues":["1",{"b":[]}],"stringValue":"x","binaryListValues":[]}}`,
			AttributeList{{Name: "a", StringValue: "x"}},
		},
		"nulls":         {`{"a":{"stringValue":null,"dataType":null},"b":null}`, AttributeList{{Name: "a"}, {Name: "b"}}},
		"escaped names": {`{"\u0061\"":{"string\u0056alue":"x"}}`, AttributeList{{Name: `a"`, StringValue: "x"}}},
		"a member between those that Lambda writes": {
			`{"a":{"stringValue":"x","binaryValue":"AQ==","stringListValues":[],"binaryListValues":[],"dataType":"String"}}`,
			AttributeList{{Name: "a", StringValue: "x", BinaryValue: []byte{1}, DataType: "String"}},
		},
		"more than there is room for": {
			`{"1":{},"2":{},"3":{},"4":{},"5":{},"6":{},"7":{},"8":{},"9":{}}`, AttributeList{
				{Name: "1"}, {Name: "2"}, {Name: "3"}, {Name: "4"}, {Name: "5"}, {Name: "6"}, {Name: "7"}, {Name: "8"},
				{Name: "9"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read([]byte(`{"Records":[{"messageAttributes":` + row.attributes + `,"body":"after"}]}`))
			want := []Record{{MessageAttributes: row.want, Body: []byte("after")}}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// Bodies are handed on and outlive what is read after them, and the payload.
func TestRead_keepsNothingInCommonWithThePayload(t *testing.T) {
	payload := []byte(`{"Records":[` +
		`{"receiptHandle":"\u0061 long one","body":"1",` +
		`"messageAttributes":{"a":{"binaryValue":"AQ==","stringValue":"x"}}},` +
		`{"receiptHandle":"\u0062 long one","body":"2\"",` +
		`"messageAttributes":{"a":{"binaryValue":"Ag==","stringValue":"y"}}},` +
		`{"receiptHandle":"\u0063 long one","body":"3","messageId":"m","eventSourceARN":"arn"}]}`)
	got, err := Read(payload)
	if err != nil {
		t.Fatal(err)
	}
	clear(payload)
	for _, r := range got {
		_ = append(r.Body, "beyond its end"...)
	}
	attribute := func(text string, b byte) AttributeList {
		return AttributeList{{Name: "a", StringValue: text, BinaryValue: []byte{b}}}
	}
	want := []Record{
		{ReceiptHandle: "a long one", Body: []byte("1"), MessageAttributes: attribute("x", 1)},
		{ReceiptHandle: "b long one", Body: []byte(`2"`), MessageAttributes: attribute("y", 2)},
		{ReceiptHandle: "c long one", Body: []byte("3"), MessageID: "m", EventSourceARN: "arn"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRead_saysWhereItIsNoEvent(t *testing.T) {
	type misfit struct {
		pointer jsontext.Pointer
		kind    jsontext.Kind
		text    string
	}
	for payload, want := range map[string]misfit{
		`[]`:                                     {"", '[', "<nil>"},
		`{"Records":{}}`:                         {"/Records", '{', "<nil>"},
		`{"Records":[{},{"body":7}]}`:            {"/Records/1/body", '0', "<nil>"},
		`{"Records":[{},{"body":{}}]}`:           {"/Records/1/body", '{', "<nil>"},
		`{"Records":[{"attributes":""}`:          {"/Records/0/attributes", '"', "<nil>"},
		`{"Records":[{"messageAttributes":[]}]}`: {"/Records/0/messageAttributes", '[', "must be an object"},
		`{"Records":[{"messageAttributes":{"a":{"dataType":true}}}]}`: {
			"/Records/0/messageAttributes/a/dataType", 't', "<nil>",
		},
		`{"Records":[{"messageAttributes":{"a":{"binaryValue":"%"}}}]}`: {
			"/Records/0/messageAttributes/a/binaryValue", '"', "illegal base64 data at input byte 0",
		},
	} {
		_, err := Read([]byte(payload))
		var got *json.SemanticError
		if !errors.As(err, &got) {
			t.Errorf("%s: %v", payload, err)
		} else if got := (misfit{got.JSONPointer, got.JSONKind, fmt.Sprint(got.Err)}); got != want {
			t.Errorf("%s: %+v, want %+v", payload, got, want)
		}
	}
}

// inAnyOrder compares attributes with those of a map.
var inAnyOrder = cmp.Options{
	cmpopts.EquateEmpty(), cmpopts.SortSlices(func(a, b Attribute) bool { return a.Name < b.Name }),
}

// reflected is what reflection makes of an event.
func reflected(payload []byte) (records []Record, err error) {
	var event struct {
		Records []struct {
			MessageID     string `json:"messageId"`
			ReceiptHandle string `json:"receiptHandle"`
			Body          string `json:"body"`
			Attributes    struct {
				ReceiveCount string `json:"ApproximateReceiveCount"`
				SentAt       string `json:"SentTimestamp"`
			} `json:"attributes"`
			MessageAttributes map[string]struct {
				StringValue string `json:"stringValue"`
				BinaryValue []byte `json:"binaryValue"`
				DataType    string `json:"dataType"`
			} `json:"messageAttributes"`
			EventSourceARN string `json:"eventSourceARN"`
		}
	}
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, err
	}
	for _, r := range event.Records {
		to := Record{MessageID: r.MessageID, ReceiptHandle: r.ReceiptHandle, Body: []byte(r.Body),
			Attributes: System(r.Attributes), EventSourceARN: r.EventSourceARN}
		for name, a := range r.MessageAttributes {
			to.MessageAttributes.Set(Attribute{
				Name: name, StringValue: a.StringValue, BinaryValue: a.BinaryValue, DataType: a.DataType,
			})
		}
		records = append(records, to)
	}
	return records, nil
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(lambdaEvent))
	for _, record := range asLambdaWrites {
		f.Add([]byte(`{"Records":[` + record + `,` + otherRecord + `,` + record + `]}`))
	}
	for _, attributes := range []string{
		`[]`, `"a"`, `7`, `{"a":[]}`, `{"a":"x"}`, `{"a":{"stringValue":7}}`, `{"a":{"stringValue":{}}}`, `{"a":{},"a":{}}`,
		`{"a":{"binaryValue":"%"}}`, `{"a":{"dataType":true}}`, `{"a":{"stringValue":"x"`, `{"a" "b"}`,
		`{"a":{"x":}}`, `{1:2}`, `{"a":`, `{"a":null}`, `{"\u0061":{"stringValue":"\n"},"b":{}}`, "{\"\xff\":{}}",
		`{"a":{"stringValue":"\ud800"}}`,
		`{"a":{"stringValue":"","stringListValues":[],"binaryListValues":[],"dataType":"String"}}`,
		`{"a":{"stringValue":"x","dataType":"Number","stringListValues":[],"binaryListValues":[]}}`,
		`{"a":{"stringValue":"x\",","stringListValues":[],"binaryListValues":[],"dataType":"String"}}`,
		`{"a":{"stringValue":"\u0078","stringListValues":[],"binaryListValues":[],"dataType":"String"}}`,
		`{"a":{"stringValue":"","stringListValues":[],"binaryListValues":[{"x":"",` +
			`"stringListValues":[],"binaryListValues":[],"dataType":"String"}]}}`,
	} {
		f.Add([]byte(`{"Records":[{"messageAttributes":` + attributes + `}]}`))
	}
	for _, payload := range []string{
		``, `null`, `[]`, `{}`, `{"Records":null}`, `{"Records":{}}`, `{"Records":[null,{}]}`, `{"Records":[[]]}`,
		`{"Records":[{}],"other":{"a":[1]}}`, `{"Records":[{"attributes":null,"body":null}]}`,
		`{"Records":[{"attributes":7}]}`,
		`{"Records":[]} `, `{"Records":[]}{}`, `{"Records":[],"Records":[]}`, `{"Records":[{}`, `{"Records":[{},]}`,
		`{"\u0052ecords":[{"body":"\u0000"}]}`, `{"Records":[{"other":[{"a":1,"a":2}]}]}`, `{"records":[{}]}`,
	} {
		f.Add([]byte(payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		want, wantErr := reflected(payload)
		if errors.Is(wantErr, jsontext.ErrDuplicateName) {
			return // Lambda writes none
		}
		got, err := Read(payload)
		raw := func(r rune) bool { return r < ' ' } // which only the scanner lets pass
		if (err != nil) != (wantErr != nil) && (err != nil || !bytes.ContainsFunc(payload, raw)) {
			t.Fatalf("error %v, by reflection %v", err, wantErr)
		}
		if diff := cmp.Diff(want, got, inAnyOrder); err == nil && wantErr == nil && diff != "" {
			t.Errorf("(-by reflection +got)\n%s", diff)
		}
	})
}
