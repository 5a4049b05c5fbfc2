package main

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

func TestPure_isTheFieldListOfTheLinter(t *testing.T) {
	text, err := os.ReadFile("../../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules struct{ Field struct{ Files []string } }
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, list := range config.Linters.Settings.Depguard.Rules.Field.Files {
		if !strings.HasPrefix(list, "!") { // tests
			want = append(want, path.Base(path.Dir(list)))
		}
	}
	if diff := cmp.Diff(want, pure); diff != "" {
		t.Errorf("pure packages (-want +got):\n%s", diff)
	}
}
