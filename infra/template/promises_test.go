package template

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/health"
	"github.com/herald-webhooks/herald/internal/retry"
)

// said is a document of the repository in one line, without the marks of emphasis.
func said(t *testing.T, document string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(string(text), "**", "")), " ")
}

// inWords is a wait as the documents write it.
func inWords(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 10*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

// listed joins words as a sentence does.
func listed(words []string) string {
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

var counts = map[int]string{2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 9: "nine", 10: "Ten"}

// What documents promise receivers about retries is what the defaults do.
func TestDocuments_promiseTheDefaultSchedule(t *testing.T) {
	s := configurations(t, load(t))["default"]
	schedule, sum, waits := s.schedule(t), time.Duration(0), []string{}
	for n := 1; n <= schedule.MaxRetries; n++ {
		wait := schedule.Wait(n, 0, 0, 0)
		sum, waits = sum+wait, append(waits, inWords(wait))
	}
	later := math.Round(100 * (float64(schedule.Wait(1, 1, 0, 0))/float64(schedule.Wait(1, 0, 0, 0)) - 1))
	held := fmt.Sprintf("about %.0f hours", schedule.Remaining(1).Hours())
	for document, promises := range map[string][]string{
		"README.md": {
			fmt.Sprintf("%s attempts in about %.1f hours", counts[schedule.Last()], sum.Hours()),
			"at once, then after " + listed(waits), fmt.Sprintf("each up to %v %% later and never earlier", later),
			fmt.Sprintf("An attempt may take %v s, %v s of that to connect",
				s.number(t, "AttemptTimeoutSeconds"), s.number(t, "ConnectTimeoutSeconds")),
			fmt.Sprintf("by %.0f hours at most", retry.Cap.Hours()), "After " + held + " a held delivery",
		},
		"infra/docs/receivers.md": {
			fmt.Sprintf("Answer within %v seconds.", s.number(t, "AttemptTimeoutSeconds")),
			fmt.Sprintf("by up to %.0f hours", retry.Cap.Hours()), "held for " + held, "After " + held + " they are kept",
		},
		"infra/docs/design.md": {
			"The defaults give " + listed(waits), fmt.Sprintf("in about %.1f hours", sum.Hours()), held + " from then",
		},
	} {
		mustSay(t, document, promises)
	}
}

func mustSay(t *testing.T, document string, promises []string) {
	t.Helper()
	text := said(t, document)
	for _, promise := range promises {
		if !strings.Contains(text, promise) {
			t.Errorf("%s does not say %q", document, promise)
		}
	}
}

// intervals are those of the probes, until they no longer grow.
func intervals(s health.Settings) string {
	var minutes []string
	wait := s.Probe
	for ; wait < s.ProbeLimit; wait *= 2 {
		minutes = append(minutes, fmt.Sprint(wait.Minutes()))
	}
	return fmt.Sprintf("%s and then %v minutes", strings.Join(minutes, ", "), s.ProbeLimit.Minutes())
}

// paces are what is sent in the first minutes of a recovery, and how many it takes for 1,000 deliveries.
func paces(s health.Settings) (doubled []string, runs int) {
	pace := s.Recovery
	for ; pace < s.RecoveryLimit; pace *= 2 {
		doubled = append(doubled, fmt.Sprint(pace))
	}
	pace = s.Recovery
	for sent := 0; sent < 1000; runs++ {
		sent, pace = sent+pace, min(2*pace, s.RecoveryLimit)
	}
	return append(doubled, fmt.Sprint(s.RecoveryLimit)), runs
}

// What documents promise about circuits is what health does.
func TestDocuments_promiseTheCircuitBreaker(t *testing.T) {
	h := health.Default()
	doubled, runs := paces(h)
	opens := fmt.Sprintf("%d failures of %d deliveries over %v minutes", h.Failures, h.Deliveries, h.Span.Minutes())
	reopens := fmt.Sprintf("failures over %v seconds without", h.ReopenSpan.Seconds())
	for document, promises := range map[string][]string{
		"README.md": {
			opens, fmt.Sprintf("%d failures over %v s", h.BusyFailures, h.BusySpan.Seconds()),
			"at intervals of " + intervals(h), fmt.Sprintf("%d in the first minute", h.Recovery),
			fmt.Sprintf("up to %d, and more if that would take over %v hours", h.RecoveryLimit, h.CatchUp.Hours()),
		},
		"infra/docs/receivers.md": {
			strings.Replace(opens, "of", "of at least", 1),
			fmt.Sprintf("%d failures over %v seconds", h.BusyFailures, h.BusySpan.Seconds()),
			"at intervals of " + intervals(h), reopens,
			fmt.Sprintf("%s deliveries in the first minute, then %s a minute", doubled[0], listed(doubled[1:])),
			fmt.Sprintf("would take more than %v hours at %d", h.CatchUp.Hours(), h.RecoveryLimit),
		},
		"infra/docs/design.md": {
			opens + fmt.Sprintf(", or %d failures over %v seconds", h.BusyFailures, h.BusySpan.Seconds()), reopens,
			fmt.Sprintf("within a minute %s deliveries", doubled[0]), strings.Join(doubled[1:], ", ") + " with every run",
			fmt.Sprintf("more than %v hours at that pace", h.CatchUp.Hours()),
			fmt.Sprintf("the %d,000 a minute", h.Budget/1000),
			fmt.Sprintf("1,000 waiting deliveries are sent in %s runs", counts[runs]),
			fmt.Sprintf("at most %d a minute and endpoint. What has waited", h.Last),
		},
		"infra/docs/operators.md": {
			fmt.Sprintf("at least every %v minutes", h.ProbeLimit.Minutes()),
			fmt.Sprintf("%d in the first minute", h.Recovery),
		},
	} {
		mustSay(t, document, promises)
	}
}

// What a deployment needs and makes is what the template has.
func TestDocuments_countWhatIsDeployed(t *testing.T) {
	n, longest := map[string]int{}, 0
	for name, r := range load(t).Resources {
		n[r.Type]++
		if function, found := strings.CutSuffix(name, "Function"); found {
			longest = max(longest, len("-"+function))
		}
	}
	const nameLimit = 64 // of a Lambda function
	mustSay(t, "infra/docs/deploy.md", []string{
		fmt.Sprintf("%s queues, %s tables, %s KMS keys, %s functions", counts[n["AWS::SQS::Queue"]],
			counts[n["AWS::DynamoDB::Table"]], counts[n["AWS::KMS::Key"]], counts[n["AWS::Serverless::Function"]]),
		counts[n["AWS::IAM::ManagedPolicy"]] + " managed policies",
		fmt.Sprintf("A stack's name can have at most %d characters", nameLimit-longest),
	})
	mustSay(t, "README.md", []string{counts[n["AWS::Serverless::Function"]] + " Go functions"})
}

// The design says what no parameter does: how large functions are, and how long messages are kept.
func TestDesign_saysWhatNoParameterDoes(t *testing.T) {
	tpl := load(t)
	usual := fmt.Sprint(at(tpl.Globals, "Function")["MemorySize"])
	var apart []string
	for _, name := range functions {
		p := tpl.Resources[name+"Function"].Properties
		if own := p["MemorySize"]; own != nil {
			apart = append(apart, fmt.Sprintf("`%s` %v MB", strings.ToLower(name), own))
		}
	}
	kept := map[string]bool{}
	for _, q := range tpl.ofType(t, "AWS::SQS::Queue", 5) {
		kept[fmt.Sprint(q.Properties["MessageRetentionPeriod"])] = true
	}
	if len(kept) != 1 || !kept[fmt.Sprint(14*24*3600)] {
		t.Errorf("messages are kept for %v s", kept)
	}
	mustSay(t, "infra/docs/design.md", []string{
		"Messages are kept for 14 days on every queue.",
		fmt.Sprintf("Functions have %s MB, %s and a timeout of %v s.", usual, strings.Join(apart, ", "),
			tpl.Resources["ReleaseFunction"].Properties["Timeout"]),
	})
}

func TestDecisions_countTheDaysThatAlarmsWereTriedOn(t *testing.T) {
	mustSay(t, "infra/decisions/0011-alarms.md", []string{fmt.Sprintf("through %d kinds of day", len(days))})
}
