// Package template holds the tests of template.yaml and samconfig.toml: rules of the deployed system
// that neither a linter nor the emulator knows (least privilege, retention, the arithmetic between
// parameters, an alarm for every bad day). They compare the template with the code and with itself, and
// never repeat its values. The tests of the translated template and of the alarms need the emulator, and
// carry its tag.
package template

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

const root = "../../.."

type (
	object   = cfn.Object
	template = cfn.Template
)

var at, list = cfn.At, cfn.List

func load(t *testing.T) template {
	t.Helper()
	tpl, err := cfn.Read(filepath.Join(root, "template.yaml"))
	if err != nil || len(tpl.Resources) == 0 {
		t.Fatalf("%d resources: %v", len(tpl.Resources), err)
	}
	return tpl
}

var logStream = regexp.MustCompile(`:log-group:\$\{(\w+)\}:log-stream:(\w+)$`)

// target is the logical id behind a Ref, a GetAtt or a Sub of one name.
func target(v any) string {
	o, _ := v.(object)
	if ref, ok := o["Ref"].(string); ok {
		return ref
	}
	if get, ok := o["Fn::GetAtt"].([]any); ok {
		return fmt.Sprint(get[0])
	}
	sub, _ := o["Fn::Sub"].(string)
	if stream := logStream.FindStringSubmatch(sub); stream != nil {
		return stream[1]
	}
	if strings.HasPrefix(sub, "${") {
		name, _, _ := strings.Cut(sub[2:], "}")
		name, _, _ = strings.Cut(name, ".")
		return name
	}
	return ""
}

// settings are the values of all parameters in one configuration.
type settings map[string]string

func (s settings) number(t *testing.T, name string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(s[name], 64)
	if err != nil {
		t.Fatalf("parameter %s: %v", name, err)
	}
	return n
}

var assignment = regexp.MustCompile(`(?m)^ *"(\w+)=(.*)"`)

// tables are the texts of samconfig.toml for sam deploy, by environment.
func tables(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "samconfig.toml"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for section := range strings.SplitSeq(string(text), "\n[") {
		if environment, table, deploys := strings.Cut(section, ".deploy.parameters]"); deploys {
			all[environment] = table
		}
	}
	return all
}

// configurations are the parameters by environment of samconfig.toml.
func configurations(t *testing.T, tpl template) map[string]settings {
	t.Helper()
	all := map[string]settings{}
	for environment, table := range tables(t) {
		s := settings{}
		for name, p := range tpl.Parameters {
			s[name] = fmt.Sprint(p["Default"])
		}
		for _, match := range assignment.FindAllStringSubmatch(table, -1) {
			if tpl.Parameters[match[1]] == nil {
				t.Errorf("samconfig.toml, %s: the template has no parameter %s", environment, match[1])
			}
			s[match[1]] = match[2]
		}
		all[environment] = s
	}
	return all
}
