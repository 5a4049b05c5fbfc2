package template

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// slowest is the mean time of the slowest of n answers in ms. The times have a log-normal distribution.
func slowest(n int, median, p99 float64) (mean float64) {
	const z99 = 2.326 // standard deviations
	sigma := math.Log(p99/median) / z99
	step := median / 100
	for t := step / 2; t < 100*p99; t += step {
		below := (1 + math.Erf(math.Log(t/median)/sigma/math.Sqrt2)) / 2
		mean += step * (1 - math.Pow(below, float64(n)))
	}
	return mean
}

// The table of throughput has the results of its formula.
func TestThroughputIsWhatTheFormulaGives(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "infra/docs/capacity.md"))
	if err != nil {
		t.Fatal(err)
	}
	defaults := configurations(t, load(t))["default"]
	batch, processes := defaults.number(t, "BatchSize"), defaults.number(t, "DeliverMaximumConcurrency")
	row := regexp.MustCompile(`(?m)^\| (\d+) ms / (\d+) (ms|s) \| [\d.]+ s \| ([\d,]+)/s \| ([\d,]+)/s \|$`)
	rows := row.FindAllStringSubmatch(string(text), -1)
	if len(rows) != 3 {
		t.Fatalf("found %d rows", len(rows))
	}
	for _, r := range rows {
		median, p99 := whole(t, object{"": r[1]}, ""), whole(t, object{"": r[2]}, "")
		if r[3] == "s" {
			p99 *= 1000
		}
		took := slowest(int(batch), float64(median), float64(p99)) + 20
		for column, n := range map[int]float64{4: 50, 5: processes} {
			said, err := strconv.ParseFloat(strings.ReplaceAll(r[column], ",", ""), 64)
			if got := n * batch / took * 1000; err != nil || math.Abs(got/said-1) > 0.03 {
				t.Errorf("%s: %.0f/s with %.0f processes", r[0], got, n)
			}
		}
	}
}
