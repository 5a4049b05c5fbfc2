package docs_test

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	summaryRow = regexp.MustCompile(`(?m)^\| (\d+) messages in an invocation[^|]*\|(.+)\|$`)
	charges    = regexp.MustCompile(`(?m)^\| cost per million deliveries, managed \| AWS charges, \$([\d.]+) ¹ \|`)
	multiples  = regexp.MustCompile(`(?m)^\| CPU per delivery, × bare client ²? ?\| ([\d.]+)–([\d.]+) \|`)
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// cells are the trimmed cells of a table row without its outer bars.
func cells(row string) []string {
	var all []string
	for cell := range strings.SplitSeq(row, "|") {
		all = append(all, strings.TrimSpace(cell))
	}
	return all
}

// measured are throughput, CPU, multiple and AWS requests of deliver in benchmark.md.
func measured(t *testing.T, messages string) []string {
	t.Helper()
	pattern := regexp.MustCompile("(?m)^\\| `deliver`, " + messages + ` \|(.+)\|$`)
	row := pattern.FindStringSubmatch(readFile(t, "benchmark.md"))
	if row == nil {
		t.Fatalf("benchmark.md has no row for %s messages", messages)
	}
	all := cells(row[1])
	return []string{all[0], all[1], all[3], all[5]}
}

// rounded is a figure with one decimal.
func rounded(t *testing.T, figure string) string {
	t.Helper()
	f, err := strconv.ParseFloat(figure, 64)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatFloat(math.Round(f*10)/10, 'f', 1, 64)
}

func TestTheREADMEQuotesTheBenchmark(t *testing.T) {
	readme := readFile(t, "../../README.md")
	rows := summaryRow.FindAllStringSubmatch(readme, -1)
	if len(rows) != 2 {
		t.Fatalf("README.md has %d rows of the benchmark", len(rows))
	}
	for _, row := range rows {
		if got, want := cells(row[2]), measured(t, row[1]); !slices.Equal(got, want) {
			t.Errorf("README.md says of %s messages %v, benchmark.md %v", row[1], got, want)
		}
	}
	compared := multiples.FindStringSubmatch(readme)
	if compared == nil {
		t.Fatal("README.md does not compare the CPU per delivery")
	}
	for i, messages := range []string{"50", "10"} {
		if exact := measured(t, messages)[2]; rounded(t, exact) != compared[i+1] {
			t.Errorf("README.md compares %s, benchmark.md has %s", compared[i+1], exact)
		}
	}
}

func TestTheREADMEQuotesTheCost(t *testing.T) {
	quoted := charges.FindStringSubmatch(readFile(t, "../../README.md"))
	counted := regexp.MustCompile(`(?m)^\| batches of 10, 10 % fail once \|.+\*\*([\d.]+)\*\* \|$`).
		FindStringSubmatch(readFile(t, "cost.md"))
	if quoted == nil || counted == nil {
		t.Fatal("README.md or cost.md does not say what a million deliveries cost")
	}
	if quoted[1] != counted[1] {
		t.Errorf("README.md says $%s, cost.md %s", quoted[1], counted[1])
	}
}
