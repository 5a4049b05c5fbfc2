package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead_takesEachCaseOnce(t *testing.T) {
	const events = `{"Action":"run","Package":"github.com/herald-webhooks/herald/p","Test":"TestA"}
{"Action":"output","Package":"github.com/herald-webhooks/herald/p","Test":"TestA/x","Output":"said\n"}
{"Action":"fail","Package":"github.com/herald-webhooks/herald/p","Test":"TestA/x"}
{"Action":"fail","Package":"github.com/herald-webhooks/herald/p","Test":"TestA"}
{"Action":"pass","Package":"github.com/herald-webhooks/herald/p","Test":"TestB"}
{"Action":"fail","Package":"github.com/herald-webhooks/herald/p"}
{"Action":"fail","Package":"github.com/herald-webhooks/herald/broken"}
`
	var said strings.Builder
	got, err := read(strings.NewReader(events), &said)
	if err != nil {
		t.Fatal(err)
	}
	// A package that does not build, or dies before its first test, is a case of its own.
	want := results{"p TestA/x": "fail", "p TestB": "pass", "broken ": "fail"}
	if diff := cmp.Diff(want, got); diff != "" || said.String() != "said\n" {
		t.Errorf("said %q (-want +got)\n%s", said.String(), diff)
	}
}

func TestCompare_expectsEachKnownDifferenceAndNoOther(t *testing.T) {
	known := map[string]string{"p K": "why"}
	for name, row := range map[string]struct {
		moto, second results
		want         int
	}{
		"as expected":               {results{"p A": "pass", "p K": "pass"}, results{"p A": "pass", "p K": "fail"}, 0},
		"an unknown difference":     {results{"p A": "pass", "p K": "pass"}, results{"p A": "fail", "p K": "fail"}, 1},
		"a known one is none":       {results{"p K": "pass"}, results{"p K": "pass"}, 1},
		"a known one is gone":       {results{"p A": "pass"}, results{"p A": "pass"}, 1},
		"a failure on moto":         {results{"p A": "fail", "p K": "pass"}, results{"p A": "fail", "p K": "fail"}, 1},
		"a case that one runs only": {results{"p A": "pass", "p K": "pass"}, results{"p K": "fail"}, 1},
		"a case that is skipped":    {results{"p A": "skip", "p K": "pass"}, results{"p A": "skip", "p K": "fail"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if got := compare(&out, row.moto, row.second, known); got != row.want {
				t.Errorf("%d faults, want %d:\n%s", got, row.want, out.String())
			}
		})
	}
}
