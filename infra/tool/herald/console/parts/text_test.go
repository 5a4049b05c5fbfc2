package parts

import "testing"

func TestPretty_changesNothingButSpace(t *testing.T) {
	for in, want := range map[string]string{
		`[{"b":1}]`:                            "[\n  {\n    \"b\": 1\n  }\n]",
		`{"b":"<i>","a":12345678901234567890}`: "{\n  \"b\": \"<i>\",\n  \"a\": 12345678901234567890\n}", "not {": "not {",
	} {
		if got := Pretty(in); got != want {
			t.Errorf("%s is shown as %s", in, got)
		}
	}
}
