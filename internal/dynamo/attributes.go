package dynamo

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// timeFormat sorts as text: RFC 3339 in UTC with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// attributes are an item, or a key, by name.
type attributes = map[string]types.AttributeValue

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func stamp(t time.Time) types.AttributeValue { return str(t.UTC().Format(timeFormat)) }

func boolean(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} }

var encoder = attributevalue.NewEncoder(func(o *attributevalue.EncoderOptions) {
	o.EncodeTime = func(t time.Time) (types.AttributeValue, error) { return stamp(t), nil }
	o.OmitEmptyTime = true
})

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

// A reader returns the zero value for an attribute that is missing or of another type.

func getStr(item attributes, name string) string {
	if v, ok := item[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func getBool(item attributes, name string) bool {
	v, ok := item[name].(*types.AttributeValueMemberBOOL)
	return ok && v.Value
}

func getNum(item attributes, name string) int64 {
	if v, ok := item[name].(*types.AttributeValueMemberN); ok {
		n, err := strconv.ParseInt(v.Value, 10, 64)
		if err == nil {
			return n
		}
	}
	return 0
}

func getTime(item attributes, name string) time.Time {
	t, err := time.Parse(timeFormat, getStr(item, name))
	if err != nil {
		return time.Time{}
	}
	return t
}
