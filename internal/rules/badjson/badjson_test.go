package badjson

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

func TestDiagnose_namesKindAndPlace(t *testing.T) {
	for body, want := range map[string]Diagnosis{
		``:                        {Kind: Malformed},
		`{"a":`:                   {Kind: Malformed, Pointer: "/a", Offset: 5},
		`{"a":x}`:                 {Kind: Malformed, Pointer: "/a", Offset: 5},
		`{"a":1}}`:                {Kind: Malformed, Offset: 7},
		`{"a":1,"a":2}`:           {Kind: DuplicateName, Pointer: "/a", Offset: 7},
		`{"b":{"c":[{},{}]}}`:     {Kind: WrongType, Pointer: "/b/c/0"},
		`{"b":{"x":1}}`:           {Kind: UnknownName, Pointer: "/b/x"},
		`{"z/~":1}`:               {Kind: UnknownName, Pointer: "/z~1~0"},
		`[]`:                      {Kind: WrongType},
		`{"a":"` + "\xff" + `"}`:  {Kind: Malformed, Pointer: "/a", Offset: 6},
		`{"b":{"c":["x",1],"c":1`: {Kind: WrongType, Pointer: "/b/c/0"},

		`{"a":"x\ud83d"}`:          {Kind: LoneSurrogate, Pointer: "/a", Offset: 7},
		`{"a":"\uDE00x"}`:          {Kind: LoneSurrogate, Pointer: "/a", Offset: 6},
		`{"a":"\ud83d\ud83d"}`:     {Kind: LoneSurrogate, Pointer: "/a", Offset: 6},
		`{"a":"\ud83d\u0041"}`:     {Kind: LoneSurrogate, Pointer: "/a", Offset: 6},
		`{"a":"\ud83d\n12345"}`:    {Kind: LoneSurrogate, Pointer: "/a", Offset: 6},
		"{\"a\":\"\\ud83d`\\\"\"}": {Kind: LoneSurrogate, Pointer: "/a", Offset: 6},
		`{"b":{"c":["\ud83d"]}}`:   {Kind: LoneSurrogate, Pointer: "/b/c/0", Offset: 12},
		`{"\udead":1}`:             {Kind: LoneSurrogate, Offset: 2},
		`{"a":"\ud83"}`:            {Kind: Malformed, Pointer: "/a", Offset: 6},
		`{"a":"\uXXXX"}`:           {Kind: Malformed, Pointer: "/a", Offset: 6},
		`{"a":"\x"}`:               {Kind: Malformed, Pointer: "/a", Offset: 6},
	} {
		t.Run(body, func(t *testing.T) {
			var target struct {
				A int `json:"a"`
				B struct {
					C []int `json:"c"`
				} `json:"b"`
			}
			err := json.Unmarshal([]byte(body), &target, json.RejectUnknownMembers(true))
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(want, Diagnose(err, []byte(body))); diff != "" {
				t.Errorf("diagnosis of %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestDiagnose_knowsErrorsOfJSONOnly(t *testing.T) {
	if diff := cmp.Diff(Diagnosis{Kind: Unknown}, Diagnose(errors.New("any other"), nil)); diff != "" {
		t.Errorf("diagnosis (-want +got):\n%s", diff)
	}
}

func TestDiagnosis_TopLevel_isTheFirstName(t *testing.T) {
	for pointer, want := range map[string]string{"": "", "/a": "a", "/a~1b/0": "a/b", "/": ""} {
		d := Diagnosis{}
		if err := json.Unmarshal([]byte(`"`+pointer+`"`), &d.Pointer); err != nil {
			t.Fatal(err)
		}
		if got := d.TopLevel(); got != want {
			t.Errorf("the first name of %q is %q, want %q", pointer, got, want)
		}
	}
}
