package queue

import (
	"encoding/base64"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Record is a message as Lambda hands it to a function (Lambda Developer Guide, "Example Amazon
// SQS message event"): what Herald reads of it. The whole event of aws-lambda-go costs twice
// the memory and half again the decoding of this.
type Record struct {
	MessageID         string       `json:"messageId"`
	ReceiptHandle     string       `json:"receiptHandle"`
	Body              string       `json:"body"`
	Attributes        System       `json:"attributes"`
	MessageAttributes AttributeMap `json:"messageAttributes"`
	EventSourceARN    string       `json:"eventSourceARN"`
}

// System are SQS's own attributes of a message, as text.
type System struct {
	ReceiveCount string `json:"ApproximateReceiveCount"`
	SentAt       string `json:"SentTimestamp"` // Unix milliseconds
}

// AttributeMap are message attributes by name.
type AttributeMap map[string]Attribute

// Attribute is one message attribute: StringValue, or BinaryValue where DataType starts with
// "Binary".
type Attribute struct {
	StringValue string
	BinaryValue []byte
	DataType    string
}

// UnmarshalJSONFrom reads the attributes without reflection: they are most of the tokens of a
// delivery, and with reflection a batch took a quarter longer to decode.
func (m *AttributeMap) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	*m = make(AttributeMap, 8)
	return members(in, func(quoted []byte) error {
		name, err := jsontext.AppendUnquote(make([]byte, 0, 64), quoted)
		if err != nil {
			return err
		}
		key := interned(name) // quoted is gone with the next token
		(*m)[key], err = readAttribute(in)
		return err
	})
}

// known are the strings that every delivery message has.
var known = func() map[string]string {
	all := map[string]string{attrLife: attrLife}
	for _, s := range []string{
		attrVersion, attrDelivery, attrTenant, attrEndpoint, attrEvent, attrOccurred, attrCreated,
		attrReplay, attrAttempts, attrNotBefore,
	} {
		all[s] = s
	}
	return all
}()

func interned(b []byte) string {
	if s, ok := known[string(b)]; ok {
		return s
	}
	return string(b)
}

func readAttribute(in *jsontext.Decoder) (a Attribute, err error) {
	err = members(in, func(quoted []byte) (err error) {
		switch string(quoted) {
		case `"stringValue"`:
			a.StringValue, err = readText(in)
		case `"dataType"`:
			a.DataType, err = readText(in)
		case `"binaryValue"`:
			var encoded string
			if encoded, err = readText(in); err == nil {
				a.BinaryValue, err = base64.StdEncoding.DecodeString(encoded)
			}
		default:
			err = in.SkipValue()
		}
		return err
	})
	return a, err
}

// readText reads a string; null is "".
func readText(in *jsontext.Decoder) (string, error) {
	token, err := in.ReadToken()
	switch {
	case err != nil || token.Kind() == jsontext.KindNull:
		return "", err
	case token.Kind() != jsontext.KindString:
		return "", fmt.Errorf("%s where the text of a message attribute belongs", token.Kind())
	}
	return token.String(), nil
}

// members reads an object: value is called with each name, quoted as it stands, and has to read
// what the name stands for. null has no members.
func members(in *jsontext.Decoder, value func(quoted []byte) error) error {
	token, err := in.ReadToken()
	if err != nil || token.Kind() == jsontext.KindNull {
		return err
	}
	if token.Kind() != jsontext.KindBeginObject {
		return fmt.Errorf("%s where an object of message attributes belongs", token.Kind())
	}
	for in.PeekKind() == jsontext.KindString {
		name, err := in.ReadValue()
		if err != nil {
			return err
		}
		if err := value(name); err != nil {
			return err
		}
	}
	_, err = in.ReadToken()
	return err
}
