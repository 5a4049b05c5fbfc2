package stack

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/infra/tool/herald/answers"
)

// Deployment is one operation of CloudFormation on the stack. A gradual update ends when all work is shifted.
type Deployment struct {
	Act     string    // create, update, import, rollback or delete
	From    time.Time // zero where its beginning is too far back
	Until   time.Time // zero where it goes on
	Version string    // of the package; "" where no function of a package was touched
	State   DeploymentState
	Reason  string // of a failure; printable
}

// DeploymentState is how far a deployment has come.
type DeploymentState string

// The states of deployments. After a failed rollback, parts of both versions run.
const (
	UnderWay       DeploymentState = "under way"
	Complete       DeploymentState = "complete"
	RollingBack    DeploymentState = "rolling back"
	RolledBack     DeploymentState = "rolled back"
	Failed         DeploymentState = "failed"
	RollbackFailed DeploymentState = "rollback failed"
)

// states are by how the stack's own status ends; the first that fits counts. A cleanup after COMPLETE removes resources
// that are in use no more.
var states = []struct {
	end   string
	state DeploymentState
}{
	{"ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS", RolledBack}, {"ROLLBACK_COMPLETE", RolledBack},
	{"ROLLBACK_FAILED", RollbackFailed}, {"ROLLBACK_IN_PROGRESS", RollingBack},
	{"COMPLETE_CLEANUP_IN_PROGRESS", Complete}, {"COMPLETE", Complete}, {"FAILED", Failed}, {"IN_PROGRESS", UnderWay},
}

// Events are CloudFormation's events of a stack, which it has for weeks.
type Events struct {
	Stack
	Client cloudformation.DescribeStackEventsAPIClient
}

// eventPages bounds the requests for events. CloudFormation gives about a hundred in a page; the creation of a stack
// has six hundred or more.
const eventPages = 10

// Deployments are those that went on at some time since then, the oldest first. Those that ended before reached are
// missing: they are beyond the requests. It is zero where none is.
func (e Events) Deployments(ctx context.Context, since time.Time) (all []Deployment, reached time.Time, err error) {
	var events []types.StackEvent // the newest first
	pages := cloudformation.NewDescribeStackEventsPaginator(e.Client,
		&cloudformation.DescribeStackEventsInput{StackName: &e.Name})
	for n := 0; pages.HasMorePages() && !enough(events, since); n++ {
		if n == eventPages {
			reached = oldest(events)
			break
		}
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, reached, e.Explain("reading the stack's events (cloudformation:DescribeStackEvents)", err)
		}
		events = append(events, page.StackEvents...)
	}
	over := func(d Deployment) bool { return d.over(since) }
	return slices.DeleteFunc(deploymentsOf(events), over), reached, nil
}

// over says whether a deployment had ended by then.
func (d Deployment) over(by time.Time) bool { return !d.Until.IsZero() && d.Until.Before(by) }

// enough reports whether the events, the newest first, reach back far enough: every deployment that was under way at
// that time, or has begun since, has its beginning among them.
func enough(events []types.StackEvent, since time.Time) bool {
	if len(events) == 0 || !oldest(events).Before(since) {
		return false
	}
	all := deploymentsOf(events)
	return len(all) > 0 && (all[0].over(since) || !all[0].From.IsZero())
}

// oldest is the time of the last of the events, which are the newest first.
func oldest(events []types.StackEvent) time.Time {
	if len(events) == 0 {
		return time.Time{}
	}
	return aws.ToTime(events[len(events)-1].Timestamp)
}

// deploymentsOf tells the operations in events apart, which are the newest first.
func deploymentsOf(events []types.StackEvent) []Deployment {
	var all []Deployment
	for _, e := range slices.Backward(events) {
		if isOfStackItself(e) {
			all = follow(all, e)
		} else if last := len(all) - 1; last >= 0 && all[last].Until.IsZero() {
			all[last] = all[last].explained(e)
		}
	}
	return all
}

// isOfStackItself says whether an event is not of one of its resources. A nested stack is a resource.
func isOfStackItself(e types.StackEvent) bool {
	return aws.ToString(e.ResourceType) == "AWS::CloudFormation::Stack" &&
		aws.ToString(e.PhysicalResourceId) == aws.ToString(e.StackId)
}

// follow is all deployments after a further change of the stack's own status.
func follow(all []Deployment, e types.StackEvent) []Deployment {
	status, at := string(e.ResourceStatus), aws.ToTime(e.Timestamp)
	state, known := stateOf(status)
	if !known {
		return all
	}
	act, _, _ := strings.Cut(strings.ToLower(status), "_")
	last := len(all) - 1
	goesOn := last >= 0 && all[last].Until.IsZero()
	switch {
	case state == UnderWay && goesOn: // a deletion may begin at any time
		all[last].Until = at
		all[last].State = Failed
		all[last].Reason = "cut short by: " + act
		return append(all, Deployment{Act: act, From: at, State: state})
	case state == UnderWay, state == RollingBack && !goesOn:
		return append(all, Deployment{Act: act, From: at, State: state})
	case goesOn:
		all[last].State = state
		if state != RollingBack {
			all[last].Until = at
		}
		if state != Complete && all[last].Reason == "" {
			all[last].Reason = printable(aws.ToString(e.ResourceStatusReason))
		}
		return all
	case last < 0:
		return []Deployment{{Act: act, Until: at, State: state}}
	}
	return all // the end of a cleanup
}

// stateOf is the state that a status of the stack stands for. A change set that waits for its execution is none.
func stateOf(status string) (DeploymentState, bool) {
	for _, s := range states {
		if strings.HasSuffix(status, s.end) && status != "REVIEW_IN_PROGRESS" {
			return s.state, true
		}
	}
	return "", false
}

// explained is the deployment with what the event of a resource adds: the version, or the first failure. CloudFormation
// cancels the other resources after that. A rollback puts the version before back.
func (d Deployment) explained(e types.StackEvent) Deployment {
	reason := aws.ToString(e.ResourceStatusReason)
	failed := strings.HasSuffix(string(e.ResourceStatus), "FAILED") && !strings.HasSuffix(reason, "cancelled")
	if failed && d.Reason == "" {
		d.Reason = printable(aws.ToString(e.LogicalResourceId) + ": " + reason)
	}
	if d.State == UnderWay && d.Version == "" && aws.ToString(e.ResourceType) == "AWS::Lambda::Function" {
		d.Version = versionIn(aws.ToString(e.ResourceProperties))
	}
	return d
}

// versionIn is the version in the properties of a function.
func versionIn(properties string) string {
	var of struct {
		Code struct{ S3Key string }
	}
	if json.Unmarshal([]byte(properties), &of) != nil {
		return "" // CloudFormation promises no form
	}
	return VersionOf(of.Code.S3Key)
}

// packaged is the form of the key of a packaged function's archive.
var packaged = regexp.MustCompile(`/([0-9A-Za-z][0-9A-Za-z.+_-]{0,63})/[a-z]+-[0-9a-f]{12}\.zip$`)

// VersionOf is the version in the key of a function's archive, "" where make package did not make it.
func VersionOf(key string) string {
	if found := packaged.FindStringSubmatch(key); found != nil {
		return found[1]
	}
	return ""
}

// longestReason is in characters.
const longestReason = 300

// printable is a text with no character that steers a terminal, and with a sign where it is cut.
func printable(text string) string {
	all := []rune(answers.Safe(text))
	if len(all) > longestReason {
		return string(all[:longestReason]) + "…"
	}
	return string(all)
}
