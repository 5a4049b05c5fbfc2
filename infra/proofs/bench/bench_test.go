package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// Measurements are made as the functions are deployed.
func TestRuntimeSettingsAreTheTemplates(t *testing.T) {
	template, err := cfn.Read("../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for function, r := range template.OfType("AWS::Serverless::Function") {
		measured := function == "FanoutFunction" || function == "DeliverFunction"
		for _, setting := range runtimeSettings {
			name, value, _ := strings.Cut(setting, "=")
			if got := cfn.At(r.Properties, "Environment", "Variables")[name]; (got == value) != measured {
				t.Errorf("%s has %s=%v, measured is %s for fanout and deliver alone", function, name, got, value)
			}
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
