package delivery

import (
	"os"
	"strings"
	"testing"
)

// The table of the comment is the rule's.
func TestRecord_Replaces_isTheTableOfItsComment(t *testing.T) {
	groups := [][]State{{Queued, Retrying, Waiting}, {Dead}, {Discarded, Purged}, {Acknowledged}}
	table := "| stored | acknowledged | queued, retrying, waiting | dead, discarded | purged |\n|---|---|---|---|---|\n"
	for _, stored := range groups {
		row := make([]string, 0, 5)
		for _, next := range [][]State{{Acknowledged}, {Queued, Retrying, Waiting}, {Dead, Discarded}, {Purged}} {
			row = append(row, when(t, stored, next))
		}
		table += "| " + named(stored) + " | " + strings.Join(row, " | ") + " |\n"
	}
	doc, err := os.ReadFile("record.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.ReplaceAll(string(doc), "//\t", ""), table) {
		t.Errorf("record.go lacks the table\n%s", table)
	}
}

func named(states []State) string {
	var names []string
	for _, s := range states {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// when says when any of next replaces any of stored: all of them must agree.
func when(t *testing.T, stored, next []State) (words string) {
	t.Helper()
	for _, was := range stored {
		for _, now := range next {
			got := ""
			for _, replay := range []int{0, 1, 2} { // the stored one is 1
				for _, attempts := range []int{4, 5, 6} { // the stored ones are 5
					r := Record{State: now, Ref: Ref{Replay: replay}, Attempts: attempts}
					got += map[bool]string{true: "y", false: "n"}[r.Replaces(Record{State: was, Ref: Ref{Replay: 1}, Attempts: 5})]
				}
			}
			said, known := map[string]string{
				"yyyyyyyyy": "yes", "nnnnnnnnn": "no", "nnnnnnyyy": "in a later replay", "nnnyyynnn": "in the same replay",
				"nnnnyyyyy": "unless older",
			}[got]
			if !known || words != "" && words != said {
				t.Errorf("%s over %s: %s has no words, or others than %q", now, was, got, words)
			}
			words = said
		}
	}
	return words
}

// Every arrow of the comment is a write that the rule allows.
func TestRecord_Replaces_allowsWhatTheCommentDraws(t *testing.T) {
	unfinished := []State{Queued, Retrying, Waiting}
	of := func(name string) []State {
		if name == "unfinished" {
			return unfinished
		}
		return []State{State(name)}
	}
	doc, err := os.ReadFile("record.go")
	if err != nil {
		t.Fatal(err)
	}
	arrows := 0
	for line := range strings.Lines(string(doc)) {
		drawn, comment := strings.CutPrefix(strings.TrimSpace(line), "//\t")
		from, rest, arrow := strings.Cut(drawn, " --> ")
		to, _, _ := strings.Cut(rest, " : ")
		if !comment || !arrow || from == "[*]" {
			continue
		}
		arrows++
		for _, was := range of(from) {
			for _, now := range of(to) {
				next := Record{State: now, Attempts: 2, Ref: Ref{Replay: 0}}
				if from == "dead" && to == "unfinished" {
					next.Replay = 1
				}
				if !next.Replaces(Record{State: was, Attempts: 1}) {
					t.Errorf("%s is drawn to become %s, and the rule refuses it", was, now)
				}
			}
		}
	}
	if arrows < 10 {
		t.Errorf("%d arrows are drawn", arrows)
	}
}
