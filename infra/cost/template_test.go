package cost

import (
	"cmp"
	"os"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// schedule is the template's default.
var schedule = struct{ base, factor, retries, long int }{5, 4, 9, 150}

// document is what the figures need of template.yaml.
type document struct {
	Globals struct {
		Function struct {
			MemorySize float64 `yaml:"MemorySize"`
		} `yaml:"Function"`
	} `yaml:"Globals"`
	Parameters map[string]struct {
		Default string `yaml:"Default"`
	} `yaml:"Parameters"`
	Resources map[string]struct {
		Type       string `yaml:"Type"`
		Properties struct {
			MemorySize float64 `yaml:"MemorySize"`
			Metrics    []struct {
				MetricStat yaml.Node `yaml:"MetricStat"`
			} `yaml:"Metrics"`
			Events map[string]struct {
				Type string `yaml:"Type"`
			} `yaml:"Events"`
		} `yaml:"Properties"`
	} `yaml:"Resources"`
}

func loadTemplate(t *testing.T) (d document) {
	t.Helper()
	text, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// ofTemplate counts what template.yaml has of what costs the same however much is delivered.
func ofTemplate(t *testing.T) (f fixed) {
	t.Helper()
	for _, r := range loadTemplate(t).Resources {
		switch r.Type {
		case "AWS::CloudWatch::Alarm":
			if r.Properties.Metrics == nil {
				f.alarms++
			}
			for _, m := range r.Properties.Metrics {
				if !m.MetricStat.IsZero() {
					f.alarms++
				}
			}
		case "AWS::KMS::Key":
			f.keys++
		case "AWS::Serverless::Function":
			for _, e := range r.Properties.Events {
				if e.Type == "SQS" {
					f.mappings++
				}
			}
		}
	}
	return f
}

func TestTheFixedCostsAreThoseOfTheTemplate(t *testing.T) {
	if f := ofTemplate(t); f.alarms < 40 || f.keys != 2 || f.mappings != 4 {
		t.Errorf("read %+v", f)
	}
}

func TestTheSettingsAreTheDefaultsOfTheTemplate(t *testing.T) {
	d := loadTemplate(t)
	for name, value := range map[string]float64{
		"SuccessLogSample": 100 * sample,
		"RetryBaseSeconds": float64(schedule.base), "RetryFactor": float64(schedule.factor),
		"MaxRetries": float64(schedule.retries), "LongWaitSeconds": float64(schedule.long),
	} {
		if got, want := strconv.FormatFloat(value, 'f', -1, 64), d.Parameters[name].Default; got != want {
			t.Errorf("%s is %s here, and %q in the template", name, got, want)
		}
	}
	for name, w := range workers {
		function := strings.ToUpper(name[:1]) + name[1:] + "Function"
		if want := cmp.Or(d.Resources[function].Properties.MemorySize, d.Globals.Function.MemorySize); w.memory != want {
			t.Errorf("%s has %v MB here, and %v in the template", name, w.memory, want)
		}
	}
}
