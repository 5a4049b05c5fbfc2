package sam

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseParameters(t *testing.T) {
	t.Parallel()
	got, err := ParseParameters("  A=1 B=x=y\tC= ")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"A": "1", "B": "x=y", "C": ""}, got); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{"A": "want Name=Value", "=1": "want Name=Value",
		"A=1 A=2": "A is given twice"} {
		if _, err := ParseParameters(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestTemplate_check(t *testing.T) {
	t.Parallel()
	const declared = `{
		"Count":  {"Type": "Number", "Default": 5, "MinValue": 1, "MaxValue": 18},
		"Days":   {"Type": "Number", "Default": 30, "AllowedValues": [1, 30, 365]},
		"Stage":  {"Type": "String", "Default": "x", "AllowedPattern": "[a-z][a-z0-9-]{0,30}|-"},
		"Short":  {"Type": "String", "Default": "", "MinLength": 2, "MaxLength": "3"},
		"Needed": {"Type": "String"}
	}`
	for name, test := range map[string]struct {
		given map[string]string
		want  string // empty: allowed
	}{
		"allowed values": {map[string]string{"Count": "18", "Days": "365", "Stage": "a-1", "Short": "abc"},
			""},
		"a bound itself":              {map[string]string{"Count": "1"}, ""},
		"a name that is not declared": {map[string]string{"Cuont": "1"}, "parameter Cuont: the template declares no such"},
		"a number that is none":       {map[string]string{"Count": "many"}, `parameter Count: "many" is not a number`},
		"a number too small": {map[string]string{"Count": "0"},
			`parameter Count: "0" is out of bounds: at least 1`},
		"a number too large": {map[string]string{"Count": "19"},
			`parameter Count: "19" is out of bounds: at most 18`},
		"a value that is not listed":    {map[string]string{"Days": "2"}, `parameter Days: "2" is not one of 1 30 365`},
		"a text against its pattern":    {map[string]string{"Stage": "Prod"}, `parameter Stage: "Prod" does not match [a-z]`},
		"a pattern holds for all of it": {map[string]string{"Stage": "prod!"}, `parameter Stage: "prod!" does not match`},
		"a text too short":              {map[string]string{"Short": "a"}, "parameter Short: "},
		"a text too long":               {map[string]string{"Short": "abcd"}, "parameter Short: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tpl := &Template{Parameters: map[string]string{"Needed": "x"}}
			if err := json.Unmarshal([]byte(`{"Parameters":`+declared+`}`), &tpl.Body); err != nil {
				t.Fatal(err)
			}
			for name, value := range test.given {
				tpl.Parameters[name] = value
			}
			err := tpl.check()
			if test.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestTemplate_check_namesAParameterWithoutAValue(t *testing.T) {
	t.Parallel()
	tpl := &Template{}
	if err := json.Unmarshal([]byte(`{"Parameters":{"Needed":{"Type":"String"}}}`), &tpl.Body); err != nil {
		t.Fatal(err)
	}
	if err := tpl.check(); err == nil || !strings.Contains(err.Error(), "parameter Needed") {
		t.Errorf("got %v", err)
	}
}
