package simulate

import (
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestMerge_keepsEarlierRunsInTheOrderOfTheScenarios(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figures")
	run := func(name string, fair bool, created int) Result {
		all := Scenarios()
		s := all[slices.IndexFunc(all, func(s Scenario) bool { return s.Title() == name })]
		s.Fair, s.Length = fair, time.Minute
		return Result{s, Figures{Created: created}}
	}
	gone := Result{Scenario{Name: "gone", Length: time.Hour}, Figures{}}
	for _, results := range [][]Result{
		{run("usual", false, 1), run("hang@100", true, 2), gone},
		{run("usual", false, 3), run("hang@100", false, 4), run("busy-2.9@100/one/1.1", false, 5)},
	} {
		if _, err := Merge(file, results); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Merge(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	var created []int
	for _, r := range all {
		titles, created = append(titles, r.Title()), append(created, r.Created)
		if r.Length != time.Minute {
			t.Errorf("%s was played for %s", r.Title(), r.Length)
		}
	}
	if want := []string{"hang@100", "hang@100/fair", "busy-2.9@100/one/1.1", "usual"}; !slices.Equal(titles, want) {
		t.Errorf("got %v, want %v", titles, want)
	}
	if want := []int{4, 2, 5, 3}; !slices.Equal(created, want) {
		t.Errorf("figures %v, want %v", created, want)
	}
}
