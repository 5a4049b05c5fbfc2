package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is measured has to be what is deployed.
func TestRuntimeSettingsAreTheTemplates(t *testing.T) {
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.ReplaceAll(string(template), `"`, "")
	for _, setting := range runtimeSettings {
		if n := strings.Count(plain, "          "+strings.Replace(setting, "=", ": ", 1)); n != 2 {
			t.Errorf("%s is set for %d functions, want fanout and deliver", setting, n)
		}
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS"} {
		if !strings.Contains(strings.Join(runtimeSettings, " "), name+"=") {
			t.Errorf("%s is not set for the benchmark", name)
		}
	}
}

// A machine that is slower for a while is slower for both of a pair.
func TestRow_ratiosArePaired(t *testing.T) {
	took := func(cpu ...float64) (all []measurement) {
		for _, seconds := range cpu {
			all = append(all, measurement{Deliveries: 1000, CPUSeconds: seconds})
		}
		return all
	}
	r := row{bare: took(1, 2, 1), results: took(3, 4, 2.5)}
	if diff := cmp.Diff([]float64{2, 2.5, 3}, r.ratios()); diff != "" {
		t.Errorf("ratios (-want +got):\n%s", diff)
	}
}

func TestQuantile(t *testing.T) {
	values := []float64{1, 2, 4, 8}
	var got []float64
	for _, q := range []float64{0, 0.25, 0.5, 0.75, 1} {
		got = append(got, quantile(values, q))
	}
	if diff := cmp.Diff([]float64{1, 1.75, 3, 5, 8}, got); diff != "" {
		t.Errorf("quantiles (-want +got):\n%s", diff)
	}
	if got := quantile([]float64{7}, 0.75); got != 7 {
		t.Errorf("got %v of a single value, want 7", got)
	}
}

// What is printed beside a ratio is counted in the same run.
func TestRow_requestsArePerDelivery(t *testing.T) {
	r := row{
		load:  workload{Batch: 10, Invocations: 7},
		calls: []map[string]int{{"Query": 10, "PutItem": 10}, {"Query": 30}},
	}
	if got, want := r.requests(), 0.25; got != want {
		t.Errorf("got %v requests a delivery, want %v", got, want)
	}
}
