package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Measurements are made as the functions are deployed.
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
}
