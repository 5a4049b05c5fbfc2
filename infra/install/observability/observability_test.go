package observability

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/grafana/grafana-foundation-sdk/go/cloudwatch"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/text"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

const root = "../../.."

func TestTheFilesAreGenerated(t *testing.T) {
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: run go generate ./infra/install/observability (-generated +committed):\n%s", path, diff)
		}
	}
}

// counted is a call that counts, or the name that a step of deliver has for what AWS did not take.
var (
	counted = regexp.MustCompile(`\.(Count|count|Share|Millis|Seconds)\("([A-Z]\w+)"`)
	step    = regexp.MustCompile(`\), "([A-Z]\w+Lost)", |\w, "([A-Z]\w+Lost)", `)
)

// Whoever builds on a metric finds it in the table, and finds none there that nothing counts.
func TestMetrics_areThoseThatTheFunctionsCount(t *testing.T) {
	units := map[string]string{"Count": count, "count": count, "Share": count, "Millis": millis, "Seconds": seconds}
	endings := map[string]string{"Millis": "Millis", "Seconds": "Seconds"}
	files, err := filepath.Glob(filepath.Join(root, "internal", "pipeline", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		service := filepath.Base(filepath.Dir(file))
		for _, m := range counted.FindAllStringSubmatch(string(source), -1) {
			want = append(want, service+" "+m[2]+endings[m[1]]+" "+units[m[1]])
		}
		for _, m := range step.FindAllStringSubmatch(string(source), -1) {
			want = append(want, service+" "+m[1]+m[2]+" "+count)
		}
	}
	for _, m := range Metrics {
		got = append(got, m.Service+" "+m.Name+" "+m.Unit)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("metrics (-counted +described):\n%s", diff)
	}
}

// Grafana drops what it does not know without a word. Its schema is that of its own types.
func TestGrafana_fitsTheSchema(t *testing.T) {
	made, err := Grafana(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := fits(made); err != nil {
		t.Error(err)
	}
	for _, part := range []string{`"metricName"`, `"gridPos"`, `"thresholdsStyle"`, `"content"`, `"schemaVersion"`} {
		if fits(bytes.Replace(made, []byte(part), []byte(`"unknown"`), 1)) == nil {
			t.Errorf("%s by another name is taken", part)
		}
	}
}

func fits(made []byte) error {
	runtime := cog.NewRuntime()
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
	runtime.RegisterPanelcfgVariant(text.VariantConfig())
	var d dashboard.Dashboard //nolint:staticcheck // older Grafanas read this model alone
	if err := some(d.UnmarshalJSONStrict(made)); err != nil {
		return err
	}
	if err := some(d.Validate()); err != nil {
		return err
	}
	var queries struct {
		Panels []struct{ Targets []json.RawMessage }
	}
	if err := json.Unmarshal(made, &queries); err != nil {
		return err
	}
	for _, p := range queries.Panels {
		for _, target := range p.Targets {
			var query cloudwatch.MetricsQuery
			if err := some(query.UnmarshalJSONStrict(target)); err != nil {
				return err
			}
		}
	}
	return nil
}

// some is an error with faults: the schema's types return an empty list of them for none.
func some(err error) error {
	var list cog.BuildErrors
	if errors.As(err, &list) && len(list) == 0 {
		return nil
	}
	return err
}

// A name of the template that Grafana cannot find would show an empty widget.
func TestGrafana_namesWhatItsReaderChooses(t *testing.T) {
	made, err := Grafana(root)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Templating struct{ List []struct{ Name string } }
		Panels     []struct{ Targets []cloudwatch.MetricsQuery }
	}
	if err := json.Unmarshal(made, &d); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, v := range d.Templating.List {
		known["$"+v.Name] = true
	}
	queries := 0
	for _, name := range regexp.MustCompile(`\$\{?[A-Za-z.:]+`).FindAllString(string(made), -1) {
		if !known[name] {
			t.Errorf("nothing chooses %s", name)
		}
	}
	for _, p := range d.Panels {
		queries += len(p.Targets)
	}
	if queries < 50 {
		t.Errorf("%d queries", queries)
	}
}
