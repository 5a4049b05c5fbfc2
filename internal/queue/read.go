package queue

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Read returns the records of an event, which is what Lambda hands to a function (Lambda Developer
// Guide, "Example Amazon SQS message event"). Where all is as Lambda writes it, a scanner takes them
// out; any other form is left to reflection, which takes more than twice as long.
func Read(payload []byte) ([]Record, error) {
	if records, ok := scan(payload); ok {
		return records, nil
	}
	var event struct {
		Records []struct {
			MessageID         string        `json:"messageId"`
			ReceiptHandle     string        `json:"receiptHandle"`
			Body              string        `json:"body"`
			Attributes        System        `json:"attributes"`
			MessageAttributes AttributeList `json:"messageAttributes"`
			EventSourceARN    string        `json:"eventSourceARN"`
		}
	}
	// Lambda wrote it: a search for names that come twice would find none.
	if err := json.Unmarshal(payload, &event, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, err
	}
	records := make([]Record, len(event.Records))
	for i, r := range event.Records {
		records[i] = Record{
			MessageID: r.MessageID, ReceiptHandle: r.ReceiptHandle, Body: []byte(r.Body), Attributes: r.Attributes,
			MessageAttributes: r.MessageAttributes, EventSourceARN: r.EventSourceARN,
		}
	}
	return records, nil
}

var errNoObject = errors.New("must be an object")

// UnmarshalJSONFrom reads the attributes in their order.
func (l *AttributeList) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	*l = nil
	begin, err := in.ReadToken()
	switch {
	case err != nil || begin.Kind() == jsontext.KindNull:
		return err
	case begin.Kind() != jsontext.KindBeginObject:
		return &json.SemanticError{JSONPointer: in.StackPointer(), JSONKind: begin.Kind(), Err: errNoObject}
	}
	for in.PeekKind() != jsontext.KindEndObject {
		token, err := in.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		var a Attribute
		if err := json.UnmarshalDecode(in, &a); err != nil {
			return err
		}
		a.Name = name
		l.Set(a)
	}
	_, err = in.ReadToken()
	return err
}
