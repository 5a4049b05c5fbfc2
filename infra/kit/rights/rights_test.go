package rights

import "testing"

func TestFits_knowsStarsAndQuestionMarks(t *testing.T) {
	for pattern, texts := range map[string]map[string]bool{
		"":          {"": true, "a": false},
		"*":         {"": true, "a/b": true},
		"a*":        {"a": true, "ab": true, "b": false},
		"*a":        {"a": true, "aba": true, "ab": false},
		"a?c":       {"abc": true, "ac": false, "abbc": false},
		"a*b*c":     {"abc": true, "axbxc": true, "acb": false},
		"a:*/live*": {"a:f/live": true, "a:f:7": false},
	} {
		for text, want := range texts {
			if fits(pattern, text) != want {
				t.Errorf("%q fits %q: %v", text, pattern, !want)
			}
		}
	}
}

// A verdict on what the evaluator does not know would be a guess.
func TestJudge_refusesWhatItDoesNotKnow(t *testing.T) {
	for name, s := range map[string]map[string]any{
		"an operator":    {"Condition": map[string]any{"DateLessThan": map[string]any{"k": "v"}}},
		"an element":     {"NotResource": "*"},
		"several values": {"Condition": map[string]any{"StringEquals": map[string]any{"many": "v"}}},
	} {
		s["Effect"], s["Action"], s["Resource"] = "Allow", "*", "*"
		call := Call{Action: "a:b", Context: map[string]any{"k": "v", "many": []string{"v"}}, Identity: []any{s}}
		if verdict, err := Judge(call); err == nil {
			t.Errorf("%s: %s", name, verdict)
		}
	}
}
