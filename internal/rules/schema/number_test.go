package schema

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fits reports whether data fulfils a schema.
func fits(t interface {
	Helper()
	Fatal(...any)
}, schema, data string,
) bool {
	t.Helper()
	s, err := Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Check([]byte(data), NoLimit)
	var mismatch *Mismatch
	if err != nil && !errors.As(err, &mismatch) {
		t.Fatal(err)
	}
	return err == nil
}

// Numbers that a float cannot tell apart, or cannot hold.
func TestSchema_Check_comparesNumbersExactly(t *testing.T) {
	const (
		a, b  = "1152921504606846977", "1152921504606846978" // one float
		tenth = "0.1000000000000000055511151231257827"       // the float 0.1, further
	)
	for name, row := range map[string]struct {
		schema, data string
		want         bool
	}{
		"different items":                {`{"uniqueItems":true}`, "[" + a + "," + b + "]", true},
		"one item, written twice":        {`{"uniqueItems":true}`, "[" + a + "," + a + ".0]", false},
		"one item with an exponent":      {`{"uniqueItems":true}`, "[100,1E+2]", false},
		"zeros":                          {`{"uniqueItems":true}`, "[0,-0.0e5]", false},
		"items deep inside":              {`{"uniqueItems":true}`, `[{"x":[` + a + `]},{"x":[` + b + `]}]`, true},
		"another constant":               {`{"const":` + a + `}`, b, false},
		"the constant":                   {`{"const":` + a + `}`, a + "e0", true},
		"not in the enum":                {`{"enum":[0,` + a + `]}`, b, false},
		"in the enum":                    {`{"enum":[0,` + a + `]}`, a, true},
		"above the maximum":              {`{"maximum":` + a + `}`, b, false},
		"the maximum":                    {`{"maximum":` + a + `}`, a, true},
		"below the minimum":              {`{"minimum":` + b + `}`, a, false},
		"the minimum, negative":          {`{"minimum":-` + a + `}`, "-" + b, false},
		"above an exclusive minimum":     {`{"exclusiveMinimum":` + a + `}`, b, true},
		"an exclusive minimum":           {`{"exclusiveMinimum":` + a + `}`, a, false},
		"below an exclusive maximum":     {`{"exclusiveMaximum":` + b + `}`, a, true},
		"an exclusive maximum":           {`{"exclusiveMaximum":` + b + `}`, b, false},
		"even":                           {`{"multipleOf":2}`, b, true},
		"odd":                            {`{"multipleOf":2}`, a, false},
		"cents":                          {`{"multipleOf":0.01}`, "0.07", true},
		"many cents":                     {`{"multipleOf":0.01}`, "1234567890123456789.13", true},
		"half a cent":                    {`{"multipleOf":0.01}`, "1234567890123456789.135", false},
		"one of two neighbours":          {`{"oneOf":[{"const":` + a + `},{"const":` + b + `}]}`, a, true},
		"one of two limits":              {`{"oneOf":[{"maximum":` + a + `},{"minimum":` + b + `}]}`, b, true},
		"more than a tenth":              {`{"maximum":0.1}`, tenth, false},
		"a fraction beyond all floats":   {`{"type":"integer"}`, "9007199254740993.5", false},
		"an integer with an exponent":    {`{"type":"integer"}`, "1.5e1", true},
		"an integer beyond all floats":   {`{"type":"integer"}`, "1e999", true},
		"beyond a limit beyond floats":   {`{"maximum":1e999}`, "1e1000", false},
		"within a limit beyond floats":   {`{"maximum":1e999}`, "9e998", true},
		"smaller than all floats":        {`{"exclusiveMinimum":0}`, "1e-999", true},
		"different beyond all floats":    {`{"uniqueItems":true}`, "[1e999,1e1000]", true},
		"the same beyond all floats":     {`{"uniqueItems":true}`, "[1e1000,10e999]", false},
		"a length beyond all floats":     {`{"maxLength":1e999}`, `"x"`, true},
		"a length with an exponent":      {`{"minLength":2e0}`, `"x"`, false},
		"a length of ten and its zeros":  {`{"maxLength":1e1}`, `"xxxxxxxxxxx"`, false},
		"a length of ten that is filled": {`{"maxLength":1.0e1}`, `"xxxxxxxxxx"`, true},
	} {
		if got := fits(t, row.schema, row.data); got != row.want {
			t.Errorf("%s: %s of %s is %t", name, row.schema, row.data, got)
		}
	}
}

// Nothing multiplies an exponent out.
//
// Threat of a publisher: exhausts memory by a number. Held by: exponents are never multiplied out.
func TestSchema_Check_answersForExponentsWithoutEnd(t *testing.T) {
	const huge = "1e1000000000"
	far := "1e" + strings.Repeat("9", 1000)
	for schema, rows := range map[string]map[string]bool{
		`{"maximum":1}`:             {huge: false, "-" + huge: true, "1e-1000000000": true, far: false},
		`{"minimum":1e1000000001}`:  {huge: false, "10" + huge[1:]: true, far: true},
		`{"const":1e1000000000}`:    {"10e999999999": true, "1e999999999": false},
		`{"multipleOf":3}`:          {huge: false, "3" + huge[1:]: true, "6e-1000000000": false},
		`{"multipleOf":1024}`:       {huge: true, far: true, "1e9": false, "1e10": true},
		`{"multipleOf":1e-999}`:     {huge: true, "1e-999": true, "1e-1000": false},
		`{"type":"integer"}`:        {huge: true, "1e-1000000000": false, "0e-1000000000": true},
		`{"items":{"type":"null"}}`: {huge: true},
	} {
		for data, want := range rows {
			if got := fits(t, schema, data); got != want {
				t.Errorf("%s of %.20s is %t", schema, data, got)
			}
		}
	}
	s, err := Compile(`{"maximum":1}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Check([]byte("1e"+strings.Repeat("9", 1001)), NoLimit); !errors.Is(err, ErrTooCostly) {
		t.Errorf("an exponent of 1,001 digits: %v", err)
	}
	if _, err := s.Check([]byte("1e"+strings.Repeat("0", 200_000)+"1"), NoLimit); !errors.As(err, new(*Mismatch)) {
		t.Errorf("an exponent with many zeros before it: %v", err)
	}
}

// drawNumber draws a number of JSON near others, in its many forms.
func drawNumber(t *rapid.T, name string) string {
	whole := rapid.StringMatching(`(0|[1-9][0-9]{0,3}|115292150460684697[0-9]|9007199254740(99[0-9]))`).Draw(t, name)
	sign := rapid.SampledFrom([]string{"", "-"}).Draw(t, name+"'s sign")
	fraction := rapid.StringMatching(`(|\.[0-9]{1,4}|\.00000000000000000000000[01])`).Draw(t, name+"'s fraction")
	exponent := rapid.StringMatching(`(|[eE][+-]?0?[0-9]|e[+-]?3[0-9]{2})`).Draw(t, name+"'s exponent")
	return sign + whole + fraction + exponent
}

func TestSchema_Check_agreesWithRationalNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawNumber(t, "a"), drawNumber(t, "b")
		if rapid.Bool().Draw(t, "equal") {
			b = new(big.Rat).Mul(rational(t, a), big.NewRat(10, 1)).FloatString(500) + "e-1"
		}
		x, y := rational(t, a), rational(t, b)
		for keyword, want := range map[string]bool{
			"const": x.Cmp(y) == 0, "minimum": x.Cmp(y) >= 0, "exclusiveMinimum": x.Cmp(y) > 0,
			"maximum": x.Cmp(y) <= 0, "exclusiveMaximum": x.Cmp(y) < 0,
		} {
			if got := fits(t, fmt.Sprintf(`{%q:%s}`, keyword, b), a); got != want {
				t.Errorf("%s %s of %s is %t", keyword, b, a, got)
			}
		}
		if got := fits(t, `{"enum":[null,`+b+`]}`, a); got != (x.Cmp(y) == 0) {
			t.Errorf("enum %s of %s is %t", b, a, got)
		}
		if got := fits(t, `{"uniqueItems":true}`, "["+a+","+b+"]"); got != (x.Cmp(y) != 0) {
			t.Errorf("%s and %s are unique: %t", a, b, got)
		}
		if got := fits(t, `{"type":"integer"}`, a); got != x.IsInt() {
			t.Errorf("%s is an integer: %t", a, got)
		}
		if y.Sign() > 0 && fits(t, `{"multipleOf":`+b+`}`, a) != new(big.Rat).Quo(x, y).IsInt() {
			t.Errorf("%s is a multiple of %s: %t", a, b, !new(big.Rat).Quo(x, y).IsInt())
		}
	})
}

func rational(t *rapid.T, number string) *big.Rat {
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		t.Fatalf("%s is no number", number)
	}
	return r
}
