package template

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// given are the parameters that a table of samconfig.toml names, not those it leaves at their defaults.
func given(t *testing.T, environment string) settings {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "samconfig.toml"))
	if err != nil {
		t.Fatal(err)
	}
	named := settings{}
	for _, assignment := range overrides(string(text))[environment] {
		name, v, _ := strings.Cut(assignment, "=")
		named[name] = v
	}
	return named
}

func deployPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "infra", "docs", "deploy.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	productionCommand = regexp.MustCompile(
		`(?s)\nsam deploy --config-env prod --region [a-z0-9-]+ --parameter-overrides (.*?)\n` + "```")
	assigned = regexp.MustCompile(`(\w+)=("[^"]*"|\S+)`)
)

// A list on the command line takes the place of samconfig.toml's, so the command has to repeat it.
func TestTheCommandForProductionNamesEveryParameterOfItsTable(t *testing.T) {
	command := productionCommand.FindStringSubmatch(deployPage(t))
	if command == nil {
		t.Fatal("deploy.md has no command for production with a region and its parameters")
	}
	got := settings{}
	for _, pair := range assigned.FindAllStringSubmatch(command[1], -1) {
		got[pair[1]] = pair[2]
	}
	want := given(t, "prod")
	want["AlarmTopicArn"] = `"$ALARM_TOPIC_ARN"`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parameters (-samconfig.toml, [prod] +deploy.md):\n%s", diff)
	}
	tpl := load(t)
	for name, p := range tpl.Parameters {
		if _, optional := p["Default"]; !optional && got[name] == "" {
			t.Errorf("%s has no default and is not named", name)
		}
	}
	for name := range got {
		if _, known := tpl.Parameters[name]; !known {
			t.Errorf("the template has no parameter %s", name)
		}
	}
}

// Lambda keeps this much of an account's concurrency unreserved.
const unreserved = 100

func TestProductionReservesConcurrencyForAllButTheAPI(t *testing.T) {
	named, total := given(t, "prod"), 0.0
	for name := range load(t).Parameters {
		function, reserves := strings.CutSuffix(name, "ReservedConcurrency")
		if !reserves {
			continue
		}
		if got, want := named[name] != "", function != "Webhooks"; got != want {
			t.Errorf("[prod] reserves concurrency for %s: %v, want %v", function, got, want)
		}
		if named[name] != "" {
			total += named.number(t, name)
		}
	}
	for _, said := range []string{
		fmt.Sprintf("reserves %v concurrent executions", total), fmt.Sprintf("so you need %v", total+unreserved),
	} {
		if !strings.Contains(strings.ReplaceAll(deployPage(t), "\n  ", " "), said) {
			t.Errorf("deploy.md does not say %q", said)
		}
	}
}

// A message that a release cannot read comes back after each visibility timeout, until SQS moves it.
func TestMessagesOutliveABadReleaseAsLongAsThePageSays(t *testing.T) {
	s := configurations(t, load(t))["prod"]
	hours := func(receives string) float64 {
		return s.number(t, receives) * s.number(t, "QueueVisibilitySeconds") / 3600
	}
	if events, deliveries := hours("EventsMaxReceiveCount"), hours("DeliveryMaxReceiveCount"); events != deliveries {
		t.Errorf("%v h on EventsQueue, %v h on DeliveryQueue: deploy.md and operators.md name one figure", events, deliveries)
	}
	page := strings.Join(strings.Fields(deployPage(t)), " ")
	for _, said := range []string{
		fmt.Sprintf("stay on EventsQueue and DeliveryQueue for %v hours,", hours("EventsMaxReceiveCount")),
		fmt.Sprintf("On RetryQueue they stay for %v hours;", hours("RetryQueueMaxReceiveCount")),
	} {
		if !strings.Contains(page, said) {
			t.Errorf("deploy.md does not say %q", said)
		}
	}
}

// released are the defaults of the last release that are not those of today. sam deploy leaves a parameter that it
// is not told at the value it has in the stack.
var released = settings{"RetryQueueMaxReceiveCount": "10"}

func TestEveryDeploymentNamesTheDefaultsThatHaveChanged(t *testing.T) {
	tpl := load(t)
	for _, environment := range []string{"default", "staging", "prod"} {
		named := given(t, environment)
		for _, name := range slices.Sorted(maps.Keys(released)) {
			want := fmt.Sprint(tpl.Parameters[name]["Default"])
			if want == released[name] {
				t.Errorf("the default of %s is that of the last release", name)
			}
			if back := name + "=" + released[name]; !strings.Contains(deployPage(t), back) {
				t.Errorf("deploy.md does not say that the way back needs %s", back)
			}
			if named[name] != want {
				t.Errorf("[%s] has %s=%q, want %s: an update would keep %s", environment, name, named[name], want, released[name])
			}
		}
	}
}
