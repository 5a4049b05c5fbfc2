package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// kept is the part of a run that a file of figures keeps.
type kept struct {
	Length  time.Duration
	Figures Figures
}

// Merge adds the figures of earlier runs, from a file, to the results, and writes all of them to the file. All
// scenarios together take hours, and are played in parts. A run replaces the earlier run of the same title. Titles
// without a scenario are left out of the results. The results are in the order of Scenarios, each without fair queues
// and then with them.
func Merge(file string, results []Result) (all []Result, err error) {
	earlier := map[string]kept{}
	text, err := os.ReadFile(file) //nolint:gosec // the caller's own
	if err == nil {
		err = json.Unmarshal(text, &earlier)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading earlier figures: %w", err)
	}
	for _, r := range results {
		earlier[r.Title()] = kept{r.Length, r.Figures}
	}
	for _, s := range Scenarios() {
		for _, s.Fair = range []bool{false, true} {
			if of, found := earlier[s.Title()]; found {
				s.Length = of.Length
				all = append(all, Result{s, of.Figures})
			}
		}
	}
	text, err = json.Marshal(earlier)
	if err != nil {
		return nil, fmt.Errorf("writing figures: %w", err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, fmt.Errorf("writing figures: %w", err)
	}
	return all, nil
}
