package cost

import (
	"os"
	"testing"

	"gopkg.in/yaml.v3"
)

// ofTemplate counts what template.yaml has of what costs the same however much is delivered.
func ofTemplate(t *testing.T) (f fixed) {
	t.Helper()
	text, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string `yaml:"Type"`
			Properties struct {
				Metrics []struct {
					MetricStat yaml.Node `yaml:"MetricStat"`
				} `yaml:"Metrics"`
				Events map[string]struct {
					Type string `yaml:"Type"`
				} `yaml:"Events"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	for _, r := range template.Resources {
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
