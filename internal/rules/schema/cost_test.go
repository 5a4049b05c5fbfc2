package schema

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"syscall"
	"testing"
	"time"
)

// email is the pattern of HTML's <input type=email>.
const email = "^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?" +
	"(?:\\\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$"

// largest is as much data as an event has.
const largest = 256 << 10

// hostileSize is the size of hostile data: the largest event in benchmarks, less in tests.
var hostileSize = largest / 64

// fill writes a list of JSON with as many items as fit.
func fill(item func(i int) string) string {
	var b strings.Builder
	b.WriteString("[")
	for i := 0; b.Len() < hostileSize-100; i++ {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(item(i))
	}
	return b.String() + "]"
}

func fillObject(value string) string {
	return "{" + strings.Trim(fill(func(i int) string { return fmt.Sprintf(`"%x":%s`, i, value) }), "[]") + "}"
}

func text(s string) string { return `"` + strings.Repeat(s, (hostileSize-100)/len(s)) + `"` }

func quoted(s string) string { return `"` + s + `"` }

func repeat(n int, of func(i int) string) string {
	var parts []string
	for i := range n {
		parts = append(parts, of(i))
	}
	return strings.Join(parts, ",")
}

// hostile are schemas with the data that costs most. Each is allowed, and each byte does harm.
func hostile() map[string]struct{ schema, data string } {
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	return map[string]struct{ schema, data string }{
		"values":  {`{}`, fill(func(int) string { return "0" })},
		"names":   {`{}`, fillObject("0")},
		"depth":   {`{}`, "[" + repeat(max(1, hostileSize/18_000), func(int) string { return deep }) + "]"},
		"limits":  {`{"items":{"type":"integer","minimum":0,"maximum":9}}`, fill(func(int) string { return "1" })},
		"numbers": {`{"items":{"type":"integer","minimum":0}}`, fill(func(i int) string { return fmt.Sprint(i) })},
		"an enum of numbers": {
			`{"items":{"enum":[` + repeat(500, func(i int) string { return fmt.Sprint(i) }) + `]}}`,
			fill(func(i int) string { return fmt.Sprint(i % 500) }),
		},
		"an enum of texts": {
			`{"items":{"enum":[` + repeat(500, func(i int) string { return fmt.Sprintf(`"x%d"`, i) }) + `]}}`,
			fill(func(i int) string { return fmt.Sprintf(`"x%d"`, i%500) }),
		},
		"unique numbers": {`{"uniqueItems":true}`, fill(func(i int) string { return fmt.Sprint(i) })},
		"unique objects": {`{"uniqueItems":true}`, fill(func(i int) string { return fmt.Sprintf(`{"b":%d,"a":0}`, i) })},
		"one object":     {`{"const":{}}`, fillObject("0")},
		"one array":      {`{"const":[]}`, fill(func(int) string { return "0" })},
		"a long number":  {`{"multipleOf":3,"minimum":0}`, "0." + strings.Repeat("3", hostileSize-100)},
		"a long number and a long divisor": {
			`{"multipleOf":` + strings.Repeat("7", maxDigits) + `}`, strings.Repeat("3", hostileSize-100),
		},
		"many divisions": {`{"items":{"multipleOf":7}}`, fill(func(int) string { return "7" })},
		"many long divisions": {
			`{"items":{"multipleOf":` + new(big.Int).Lsh(big.NewInt(1), 3300).String() + `}}`,
			fill(func(int) string { return "9e9999" }), // a multiple, so that none ends the check
		},
		"an address":                   {`{"pattern":"` + email + `"}`, text("a@b.")},
		"an address of dots":           {`{"pattern":"` + email + `"}`, `"a@` + text("a.")[1:]},
		"counted repeats":              {`{"pattern":"(x{1,60}y?){1,15}$"}`, text("x")},
		"counted letters":              {`{"pattern":"(\\p{L}{1,60}\\p{N}?){1,15}$"}`, text("a")},
		"repeats of alternatives":      {`{"pattern":"(a|aa|aaa|b)*c"}`, text("a")},
		"a pattern of words":           {`{"pattern":"[a-z]+ [a-z]+ [a-z]+$"}`, text("ab ")},
		"a pattern of many characters": {`{"pattern":"(\\p{L}|\\p{N})*\\p{P}$"}`, text("é")},
		"a pattern for each item":      {`{"items":{"pattern":"^[a-z]{1,8}$"}}`, fill(func(int) string { return `"ab"` })},
		"empty texts":                  {`{"items":{"pattern":"(x?){1,1000}$"}}`, fill(func(int) string { return `""` })},
		"empty names": {
			`{"items":{"patternProperties":{"((a?b?){0,100}c?){0,10}$":{}}}}`, fill(func(int) string { return `{"":0}` }),
		},
		"lengths": {`{"items":{"minLength":0,"maxLength":9}}`, fill(func(int) string { return `""` })},
		"branches": {
			`{"items":{"anyOf":[` + repeat(60, func(i int) string { return fmt.Sprintf(`{"const":%d}`, i+10) }) + `,{}]}}`,
			fill(func(int) string { return "1" }),
		},
		"branches on the whole": {
			`{"anyOf":[` + repeat(60, func(i int) string { return fmt.Sprintf(`{"maxItems":1,"const":%d}`, i) }) + `,{}]}`,
			fill(func(int) string { return "1" }),
		},
		"empty objects": {
			`{"items":{"properties":{` + repeat(500, func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }) +
				`},"required":[]}}`, fill(func(int) string { return "{}" }),
		},
		"names of patterns": {
			`{"patternProperties":{` + repeat(20, func(i int) string { return fmt.Sprintf(`"^[a-z]{%d}$":{}`, i) }) + `}}`,
			fillObject("0"),
		},
		"unevaluated names": {
			`{"allOf":[` + repeat(20, func(i int) string { return fmt.Sprintf(`{"properties":{"%x":{}}}`, i) }) +
				`],"unevaluatedProperties":{}}`, fillObject("0"),
		},
		"unevaluated items": {
			`{"allOf":[` + repeat(100, func(int) string { return "{}" }) + `],"unevaluatedItems":{}}`,
			fill(func(int) string { return "0" }),
		},
		"dependencies": {
			`{"dependentRequired":{` + repeat(200, func(i int) string { return fmt.Sprintf(`"%x":["1","2","3"]`, i) }) + `}}`,
			fillObject("0"),
		},
		"two bounded texts": {
			`{"properties":{` + repeat(2, func(i int) string {
				return fmt.Sprintf(`"%d":{"maxLength":20,"pattern":"(x{0,60}y?){1,15}$"}`, i)
			}) + `}}`,
			"{" + repeat(2, func(i int) string { return fmt.Sprintf(`"%d":%q`, i, strings.Repeat("\U0001F600", 20)) }) + "}",
		},
		"contained": {`{"contains":{"contains":{"const":1}}}`, fill(func(int) string { return "[0]" })},
	}
}

// The counted work bounds the time: ns/op stays below counted/op.
func BenchmarkSchema_Check_worst(b *testing.B) {
	hostileSize = largest
	defer func() { hostileSize = largest / 64 }()
	for name, row := range hostile() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			s, err := Compile(row.schema)
			if err != nil {
				b.Fatal(err)
			}
			data, spent := []byte(row.data), Cost(0)
			b.ReportAllocs()
			before := processor(b)
			for b.Loop() {
				spent, err = s.Check(data, NoLimit)
				if err != nil && !errors.As(err, new(*Mismatch)) {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(processor(b)-before)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(spent), "counted/op")
		})
	}
}

// processor is the time of a processor that this process has used, in nanoseconds. Unlike a clock, it does not count
// the work of other processes.
func processor(tb testing.TB) int64 {
	tb.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

func TestSchema_Worst_boundsEveryCheck(t *testing.T) {
	for name, row := range hostile() {
		s, err := Compile(row.schema)
		if err != nil {
			t.Fatal(err)
		}
		spent, _ := s.Check([]byte(row.data), NoLimit)
		if most, at := s.Worst(len(row.data)); spent > most {
			t.Errorf("%s costs %d, more than the %d because of %s", name, spent, most, at)
		}
	}
}

// A pattern also looks at the places before the first character and after the last one, so even an empty text costs
// steps.
func TestPattern_takesItsStepsAtEveryPlaceOfAText(t *testing.T) {
	const form = "(x?){1,500}$"
	p, err := newPattern(form, "/pattern")
	if err != nil {
		t.Fatal(err)
	}
	for name, schema := range map[string]string{
		"a text":                      `{"items":{"pattern":"` + form + `"}}`,
		"a bounded text":              `{"items":{"maxLength":1,"pattern":"` + form + `"}}`,
		"a name of propertyNames":     `{"items":{"propertyNames":{"pattern":"` + form + `"}}}`,
		"a name of patternProperties": `{"items":{"patternProperties":{"` + form + `":{}}}}`,
	} {
		s, err := Compile(schema)
		if err != nil {
			t.Fatal(err)
		}
		for length := range 2 {
			item := quoted(strings.Repeat("x", length))
			if strings.HasPrefix(name, "a name") {
				item = "{" + item + ":0}"
			}
			data := "[" + repeat(9, func(int) string { return item }) + "]"
			spent, err := s.Check([]byte(data), NoLimit)
			if err != nil {
				t.Fatal(err)
			}
			if least := 9 * costStep * p.steps * Cost(length+1); spent < least {
				t.Errorf("%s of %d characters: nine cost %d, less than the %d of their steps", name, length, spent, least)
			}
			if most, _ := s.Worst(len(data)); spent > most {
				t.Errorf("%s of %d characters: nine cost %d, above their bound %d", name, length, spent, most)
			}
		}
	}
}

// A check that costs more than its limit stops there.
func TestSchema_Check_stopsAtItsLimit(t *testing.T) {
	for name, row := range hostile() {
		s, err := Compile(row.schema)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := s.Check([]byte(row.data), NoLimit)
		for _, limit := range []Cost{0, 1, whole / 4, whole / 2, whole - 1} {
			if spent, err := s.Check([]byte(row.data), limit); !errors.Is(err, ErrTooCostly) || spent > limit {
				t.Errorf("%s, of %d: spent %d of %d, %v", name, whole, spent, limit, err)
			}
		}
		if spent, err := s.Check([]byte(row.data), whole); errors.Is(err, ErrTooCostly) || spent != whole {
			t.Errorf("%s, of %d: spent %d, %v", name, whole, spent, err)
		}
	}
}

// Lambda's share of a core at 256 MB, of the one at 1,769.
func TestIn_isAFunctionsShareOfACore(t *testing.T) {
	if got := In(1769 * time.Millisecond); got != Cost(256*time.Millisecond) {
		t.Errorf("1.769 s of the function are %d", got)
	}
}

func FuzzSchema_Worst(f *testing.F) {
	for _, row := range hostile() {
		f.Add(row.schema, row.data[:min(len(row.data), 64)])
	}
	f.Add(`{"properties":{"a":{"maxLength":3,"pattern":"^x+$"}},"additionalProperties":false}`, `{"a":"x"}`)
	f.Add(`{"if":{"required":["a"]},"then":{"maxItems":1},"else":{"uniqueItems":true}}`, `[1,1.0,{"a":[]}]`)
	f.Fuzz(func(t *testing.T, schema, data string) {
		s, err := Compile(schema)
		if err != nil {
			return
		}
		spent, err := s.Check([]byte(data), NoLimit)
		if errors.Is(err, ErrTooCostly) {
			return // an exponent of more than a thousand digits
		}
		if most, at := s.Worst(len(data)); spent > most {
			t.Errorf("%s of %s costs %d, more than %d because of %s", schema, data, spent, most, at)
		}
		again, err2 := s.Check([]byte(data), spent)
		if again != spent || (err == nil) != (err2 == nil) {
			t.Errorf("%s of %s costs %d and %d, %v and %v", schema, data, spent, again, err, err2)
		}
	})
}

// Items behind the answer cost nothing but their reading, which is a number's as much as another's.
func TestSchema_Check_ofContainsEndsWithItsAnswer(t *testing.T) {
	s, err := Compile(`{"contains":{"type":"integer","const":1}}`)
	if err != nil {
		t.Fatal(err)
	}
	var costs []Cost
	for _, data := range []string{"[1]", "[1,1,1,1]"} {
		spent, err := s.Check([]byte(data), NoLimit)
		if err != nil {
			t.Error(err)
		}
		costs = append(costs, spent-costDecode*Cost(len(data)))
	}
	// Both are asked whether to go on: the first one behind its last item.
	if behind := costs[1] - costs[0]; behind > costRule {
		t.Errorf("three items behind the answer cost %d", behind)
	}
}

func TestSchema_Check_countsEachKeyword(t *testing.T) {
	var costs []Cost
	for _, schema := range []string{`{}`, `{"type":"null"}`, `{"type":"null","not":false}`} {
		s, err := Compile(schema)
		if err != nil {
			t.Fatal(err)
		}
		spent, err := s.Check([]byte("null"), NoLimit)
		if err != nil {
			t.Error(err)
		}
		costs = append(costs, spent)
	}
	if one, two := costs[1]-costs[0], costs[2]-costs[1]; one < costRule || two < costRule {
		t.Errorf("the first keyword costs %d, and the second %d", one, two)
	}
}

// Each name that the data must have is looked up.
func TestSchema_Check_countsEachRequiredName(t *testing.T) {
	var costs []Cost
	for _, schema := range []string{`{"required":["a"]}`, `{"required":["a","b","c"]}`} {
		s, err := Compile(schema)
		if err != nil {
			t.Fatal(err)
		}
		spent, err := s.Check([]byte(`{"a":1,"b":2,"c":3}`), NoLimit)
		if err != nil {
			t.Error(err)
		}
		costs = append(costs, spent)
	}
	if got, want := costs[1]-costs[0], Cost(2*costLookup); got != want {
		t.Errorf("two names more cost %d, want %d", got, want)
	}
}

// Several keywords read the same number once, and each of its digits costs.
func TestSchema_Check_readsANumberOnce(t *testing.T) {
	spend := func(schema, data string) Cost {
		s, err := Compile(schema)
		if err != nil {
			t.Fatal(err)
		}
		spent, err := s.Check([]byte(data), NoLimit)
		if err != nil {
			t.Error(err)
		}
		return spent - costDecode*Cost(len(data))
	}
	once, twice := spend(`{"minimum":0}`, "1"), spend(`{"minimum":0,"maximum":9}`, "1")
	if once < costNumber || twice-once >= costNumber {
		t.Errorf("one keyword costs %d, two cost %d", once, twice)
	}
	if long := spend(`{"minimum":0}`, strings.Repeat("1", 101)); long < once+100*costByte {
		t.Errorf("a digit costs %d, a hundred and one cost %d", once, long)
	}
}
