package schema

import (
	"errors"
	"strings"
	"testing"
)

// Each row has a place for a text of any length, in the schema or in the data. Each byte of the text costs as much as
// the row says, beyond its decoding, and the bound of the schema knows it.
func TestSchema_Check_countsEveryByteThatItReads(t *testing.T) {
	for name, row := range map[string]struct {
		schema, data string
		each         Cost
	}{
		"a text that no keyword reads":          {`{}`, `"?"`, 0},
		"a text, for its length":                {`{"minLength":2}`, `"?"`, costByte},
		"a text, looked up":                     {`{"enum":["7",8]}`, `"?"`, costByte},
		"a text of many":                        {`{"uniqueItems":true}`, `[1,"?"]`, costByte},
		"a name":                                {`{"properties":{"a":false}}`, `{"?":1}`, costByte},
		"a name in an object that is looked up": {`{"const":{"a":1}}`, `{"?":1}`, costByte},
		"a number":                              {`{"minimum":1}`, `?`, costByte},
		"a number, looked up":                   {`{"const":7}`, `?`, 2 * costByte},
		"a number, divided":                     {`{"multipleOf":7}`, `?`, costByte + costDigit},
		"a divisor":                             {`{"multipleOf":?}`, `7`, costDigit},
		"an allowed text":                       {`{"enum":["?"]}`, `7`, 0},
		"an array in place of a number":         {`{"const":7}`, `["?"]`, 0},
		"an object in place of a text":          {`{"enum":["7"]}`, `{"?":"?"}`, 0},
		"an array, looked up":                   {`{"const":[7]}`, `["?"]`, costByte},
	} {
		var costs []Cost
		for _, length := range []int{1, 100, 200} {
			filled := strings.NewReplacer("?", strings.Repeat("7", length))
			s, err := Compile(filled.Replace(row.schema))
			if err != nil {
				t.Fatal(err)
			}
			data := filled.Replace(row.data)
			spent, err := s.Check([]byte(data), NoLimit)
			if err != nil && !errors.As(err, new(*Mismatch)) {
				t.Fatal(err)
			}
			if most, at := s.Worst(len(data)); spent > most {
				t.Errorf("%s of %d bytes costs %d, more than the %d because of %s", name, length, spent, most, at)
			}
			costs = append(costs, spent-costDecode*Cost(len(data)))
		}
		if got := costs[2] - costs[1]; got != 100*row.each {
			t.Errorf("%s: a hundred bytes cost %d, want %d", name, got, 100*row.each)
		}
	}
}
