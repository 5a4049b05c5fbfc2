package queue

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

func TestAttributeMap_UnmarshalJSONFrom_readsAttributesWhateverElseTheyHold(t *testing.T) {
	for name, row := range map[string]struct {
		attributes string
		want       AttributeMap
	}{
		"none": {`{}`, AttributeMap{}},
		"null": {`null`, AttributeMap{}},
		"text": {
			`{"a":{"stringValue":"x\"\u00e9","dataType":"String"}}`,
			AttributeMap{"a": {StringValue: `x"é`, DataType: "String"}},
		},
		"lists besides": {
			`{"a":{"stringListValues":["1",{"b":[]}],"stringValue":"x","binaryListValues":[]}}`,
			AttributeMap{"a": {StringValue: "x"}},
		},
		"binary": {
			`{"a":{"binaryValue":"AAE=","dataType":"Binary"}}`,
			AttributeMap{"a": {BinaryValue: []byte{0, 1}, DataType: "Binary"}},
		},
		"nulls":        {`{"a":{"stringValue":null,"dataType":null},"b":null}`, AttributeMap{"a": {}, "b": {}}},
		"escaped name": {`{"\u0061\"":{"stringValue":"x"}}`, AttributeMap{`a"`: {StringValue: "x"}}},
		"more than eight": {
			`{"1":{},"2":{},"3":{},"4":{},"5":{},"6":{},"7":{},"8":{},"9":{}}`,
			AttributeMap{"1": {}, "2": {}, "3": {}, "4": {}, "5": {}, "6": {}, "7": {}, "8": {}, "9": {}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var r Record
			err := json.Unmarshal([]byte(`{"messageAttributes":`+row.attributes+`,"body":"after"}`), &r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Record{MessageAttributes: row.want, Body: "after"}, r); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAttributeMap_UnmarshalJSONFrom_refusesWhatAreNoAttributes(t *testing.T) {
	for _, attributes := range []string{
		`[]`, `"a"`, `7`, `{"a":[]}`, `{"a":"x"}`, `{"a":{"stringValue":7}}`, `{"a":{"stringValue":{}}}`, `{"a":{},"a":{}}`,
		`{"a":{"binaryValue":"%"}}`, `{"a":{"dataType":true}}`, `{"a":{"stringValue":"x"`, `{"a" "b"}`,
		`{"a":{"x":}}`, `{1:2}`, `{"a":`,
	} {
		var r Record
		if err := json.Unmarshal([]byte(`{"messageAttributes":`+attributes+`}`), &r); err == nil {
			t.Errorf("%s is read as %+v", attributes, r.MessageAttributes)
		}
	}
}
