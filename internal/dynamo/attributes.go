package dynamo

import (
	"strconv"
	"time"

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

func bytes(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }

func boolean(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} }

// strs makes a list of strings.
func strs[S ~string](values []S) types.AttributeValue {
	list := make([]types.AttributeValue, len(values))
	for i, s := range values {
		list[i] = str(string(s))
	}
	return &types.AttributeValueMemberL{Value: list}
}

// A reader returns the zero value for an attribute that is missing or of another type.

func getStr(item map[string]types.AttributeValue, name string) string {
	if v, ok := item[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func getBool(item attributes, name string) bool {
	v, ok := item[name].(*types.AttributeValueMemberBOOL)
	return ok && v.Value
}

func getNum(item map[string]types.AttributeValue, name string) int64 {
	if v, ok := item[name].(*types.AttributeValueMemberN); ok {
		n, err := strconv.ParseInt(v.Value, 10, 64)
		if err == nil {
			return n
		}
	}
	return 0
}

func getTime(item map[string]types.AttributeValue, name string) time.Time {
	t, err := time.Parse(timeFormat, getStr(item, name))
	if err != nil {
		return time.Time{}
	}
	return t
}

func getBytes(item map[string]types.AttributeValue, name string) []byte {
	if v, ok := item[name].(*types.AttributeValueMemberB); ok {
		return v.Value
	}
	return nil
}

// getStrs reads a list of strings.
func getStrs(item map[string]types.AttributeValue, name string) []string {
	list, ok := item[name].(*types.AttributeValueMemberL)
	if !ok {
		return nil
	}
	var strs []string
	for _, entry := range list.Value {
		if s, ok := entry.(*types.AttributeValueMemberS); ok {
			strs = append(strs, s.Value)
		}
	}
	return strs
}

// pick returns the named attributes only.
func pick(item map[string]types.AttributeValue, names ...string) map[string]types.AttributeValue {
	picked := make(map[string]types.AttributeValue, len(names))
	for _, name := range names {
		picked[name] = item[name]
	}
	return picked
}
