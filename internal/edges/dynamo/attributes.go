package dynamo

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// timeFormat sorts as text: RFC 3339 in UTC with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// attributes are an item, or a key, by name.
type attributes = map[string]types.AttributeValue

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// encoder writes times as text, and leaves out zero times.
var encoder = attributevalue.NewEncoder(func(o *attributevalue.EncoderOptions) {
	o.EncodeTime = func(t time.Time) (types.AttributeValue, error) { return str(t.UTC().Format(timeFormat)), nil }
	o.OmitEmptyTime = true
})

// decoder reads the times of encoder.
var decoder = attributevalue.NewDecoder(func(o *attributevalue.DecoderOptions) {
	o.DecodeTime.S = func(text string) (time.Time, error) { return time.Parse(timeFormat, text) }
})

// marshal returns the attributes of a tagged struct. Zero fields tagged omitempty and structs without
// attributes are left out.
func marshal(v any) (attributes, error) {
	item := attributes{}
	encoded, err := encoder.Encode(v)
	if m, ok := encoded.(*types.AttributeValueMemberM); ok {
		item = m.Value
	}
	for name, value := range item {
		if inner, ok := value.(*types.AttributeValueMemberM); ok && len(inner.Value) == 0 {
			delete(item, name)
		}
	}
	return item, err
}

// decode reads attributes as a tagged struct.
func decode[T any](item attributes) (v T, err error) {
	err = unmarshal(item, &v)
	return v, err
}

// decodeAll is decode of a list.
func decodeAll[T any](items []attributes) (all []T, err error) {
	for _, item := range items {
		v, err := decode[T](item)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// unmarshal sets a tagged struct's fields from attributes; others keep their values.
func unmarshal(item attributes, v any) error {
	return decoder.Decode(&types.AttributeValueMemberM{Value: item}, v)
}

// given are the values for the placeholders of expressions.
type given map[string]any

// encoded returns the values as attributes. A value that cannot be encoded is left out: DynamoDB then refuses the call,
// since its expression names a value that it lacks.
func (g given) encoded() attributes {
	if len(g) == 0 {
		return nil
	}
	all := make(attributes, len(g))
	for name, v := range g {
		if value, done := v.(types.AttributeValue); done {
			all[name] = value
		} else if value, err := encoder.Encode(v); err == nil {
			all[name] = value
		}
	}
	return all
}

// getStr returns a text, or "" if the attribute is missing or has another type.
func getStr(item attributes, name string) string {
	if v, ok := item[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

// read returns an attribute's value, or the zero value if the attribute is missing or has another type.
func read[T any](item attributes, name string) T {
	var v, none T
	if err := decoder.Decode(item[name], &v); err != nil {
		return none
	}
	return v
}
