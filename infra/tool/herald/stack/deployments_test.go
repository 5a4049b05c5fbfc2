package stack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
)

const (
	stackID  = "arn:aws:cloudformation:eu-central-1:111122223333:stack/herald-prod/1a2b"
	nestedID = "arn:aws:cloudformation:eu-central-1:111122223333:stack/herald-prod-Nested-1A2B/3c4d"
)

// at is a moment of the day, so many minutes after its first.
func at(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }

// happens is an event of a resource.
func happens(minute int, id, kind, status, reason string) types.StackEvent {
	return types.StackEvent{
		StackId: aws.String(stackID), Timestamp: aws.Time(at(minute)), LogicalResourceId: &id, ResourceType: &kind,
		PhysicalResourceId: aws.String(id), ResourceStatus: types.ResourceStatus(status), ResourceStatusReason: &reason,
	}
}

// becomes is an event of the stack itself.
func becomes(minute int, status string) types.StackEvent {
	e := happens(minute, "herald-prod", "AWS::CloudFormation::Stack", status, "")
	e.PhysicalResourceId = aws.String(stackID)
	return e
}

// because is an event of the stack itself with a reason.
func because(minute int, status, reason string) types.StackEvent {
	e := becomes(minute, status)
	e.ResourceStatusReason = &reason
	return e
}

// ships is the event of a function that gets the code under a key.
func ships(minute int, key string) types.StackEvent {
	e := happens(minute, "DeliverFunction", "AWS::Lambda::Function", "UPDATE_IN_PROGRESS", "")
	e.ResourceProperties = aws.String(fmt.Sprintf(`{"Code":{"S3Bucket":"b","S3Key":%q},"MemorySize":"256"}`, key))
	return e
}

const (
	release = "herald/1.1.0/deliver-0123456789ab.zip"
	before  = "herald/1.0.0/deliver-ba9876543210.zip"
)

// history answers like CloudFormation: so many pages as there are lists, the oldest last.
type history struct {
	pages [][]types.StackEvent // each the oldest first, as tests are read
	asked int
	err   error
}

func (h *history) DescribeStackEvents(
	_ context.Context, in *cloudformation.DescribeStackEventsInput, _ ...func(*cloudformation.Options),
) (*cloudformation.DescribeStackEventsOutput, error) {
	if h.err != nil || *in.StackName != "herald-prod" {
		return nil, errors.Join(h.err, errors.New("of "+*in.StackName))
	}
	out := &cloudformation.DescribeStackEventsOutput{}
	page := h.pages[len(h.pages)-1-h.asked]
	for n := len(page) - 1; n >= 0; n-- {
		out.StackEvents = append(out.StackEvents, page[n])
	}
	h.asked++
	if h.asked < len(h.pages) {
		out.NextToken = aws.String("older")
	}
	return out, nil
}

// eventsOf are the events of a history.
func eventsOf(h *history) Events { return Events{Stack{Name: "herald-prod"}, h} }

// Threat of a page: CloudFormation's texts pass for a deployment. Held by: the stack's own status decides.
func TestEvents_Deployments_areTheOperationsOnTheStack(t *testing.T) {
	alias := func(minute int, status, reason string) types.StackEvent {
		return happens(minute, "DeliverFunctionAliaslive", "AWS::Lambda::Alias", status, reason)
	}
	nested := func(minute int, status string) types.StackEvent {
		e := happens(minute, "Nested", "AWS::CloudFormation::Stack", status, "it says so")
		e.PhysicalResourceId = aws.String(nestedID)
		return e
	}
	for name, c := range map[string]struct {
		events []types.StackEvent
		want   []Deployment
	}{
		"nothing": {nil, nil},
		"a creation": {
			[]types.StackEvent{
				because(1, "REVIEW_IN_PROGRESS", "User Initiated"), becomes(5, "CREATE_IN_PROGRESS"), ships(6, before),
				becomes(9, "CREATE_COMPLETE"),
			},
			[]Deployment{{Act: "create", From: at(5), Until: at(9), Version: "1.0.0", State: Complete}},
		},
		"a change set that waits": {[]types.StackEvent{becomes(1, "REVIEW_IN_PROGRESS")}, nil},
		"a creation that failed": {
			[]types.StackEvent{
				becomes(1, "CREATE_IN_PROGRESS"),
				happens(2, "Endpoints", "AWS::DynamoDB::Table", "CREATE_FAILED", "Resource creation cancelled"),
				happens(2, "SecretKey", "AWS::KMS::Key", "CREATE_FAILED", "no right"),
				becomes(3, "ROLLBACK_IN_PROGRESS"), becomes(4, "ROLLBACK_COMPLETE"),
			},
			[]Deployment{{Act: "create", From: at(1), Until: at(4), State: RolledBack, Reason: "SecretKey: no right"}},
		},
		"an update, with the removal of what is left": {
			[]types.StackEvent{
				becomes(1, "UPDATE_IN_PROGRESS"), ships(2, release), becomes(4, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"),
				happens(5, "Old", "AWS::Lambda::Version", "DELETE_FAILED", "in use"), becomes(6, "UPDATE_COMPLETE"),
			},
			[]Deployment{{Act: "update", From: at(1), Until: at(4), Version: "1.1.0", State: Complete}},
		},
		"an update of a checkout": {
			[]types.StackEvent{becomes(1, "UPDATE_IN_PROGRESS"), ships(2, "herald-prod/9f86d081884c7d65"),
				becomes(4, "UPDATE_COMPLETE")},
			[]Deployment{{Act: "update", From: at(1), Until: at(4), State: Complete}},
		},
		"an update under way": {
			[]types.StackEvent{becomes(1, "UPDATE_IN_PROGRESS"), ships(2, release)},
			[]Deployment{{Act: "update", From: at(1), Version: "1.1.0", State: UnderWay}},
		},
		"a gradual update that an alarm ends": {
			[]types.StackEvent{
				becomes(1, "UPDATE_IN_PROGRESS"), ships(2, release), alias(3, "UPDATE_IN_PROGRESS", ""),
				alias(24, "UPDATE_FAILED", "CodeDeploy deployment d-1 was stopped by an alarm"),
				because(25, "UPDATE_ROLLBACK_IN_PROGRESS", "The following resource(s) failed to update"), ships(26, before),
				becomes(28, "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS"), becomes(29, "UPDATE_ROLLBACK_COMPLETE"),
			},
			[]Deployment{{Act: "update", From: at(1), Until: at(28), Version: "1.1.0", State: RolledBack,
				Reason: "DeliverFunctionAliaslive: CodeDeploy deployment d-1 was stopped by an alarm"}},
		},
		"a gradual update that shifts": {
			[]types.StackEvent{
				becomes(1, "UPDATE_IN_PROGRESS"), ships(2, release), alias(3, "UPDATE_IN_PROGRESS", ""),
				alias(34, "UPDATE_COMPLETE", ""), becomes(35, "UPDATE_COMPLETE"),
			},
			[]Deployment{{Act: "update", From: at(1), Until: at(35), Version: "1.1.0", State: Complete}},
		},
		"an update that its operator cancels": {
			[]types.StackEvent{becomes(1, "UPDATE_IN_PROGRESS"), because(2, "UPDATE_ROLLBACK_IN_PROGRESS", "User Initiated"),
				ships(3, before)},
			[]Deployment{{Act: "update", From: at(1), State: RollingBack, Reason: "User Initiated"}},
		},
		"a rollback that fails, and is tried again": {
			[]types.StackEvent{
				becomes(1, "UPDATE_IN_PROGRESS"), ships(1, release), because(2, "UPDATE_ROLLBACK_IN_PROGRESS", "why"),
				becomes(3, "UPDATE_ROLLBACK_FAILED"), becomes(8, "UPDATE_ROLLBACK_IN_PROGRESS"), ships(8, before),
				becomes(9, "UPDATE_ROLLBACK_COMPLETE"),
			},
			[]Deployment{
				{Act: "update", From: at(1), Until: at(3), Version: "1.1.0", State: RollbackFailed, Reason: "why"},
				{Act: "update", From: at(8), Until: at(9), State: RolledBack},
			},
		},
		"an update that fails and stays": {
			[]types.StackEvent{becomes(1, "UPDATE_IN_PROGRESS"), because(2, "UPDATE_FAILED", "it stays")},
			[]Deployment{{Act: "update", From: at(1), Until: at(2), State: Failed, Reason: "it stays"}},
		},
		"an import, and one that is rolled back": {
			[]types.StackEvent{
				becomes(1, "IMPORT_IN_PROGRESS"), becomes(2, "IMPORT_COMPLETE"), becomes(3, "IMPORT_IN_PROGRESS"),
				becomes(4, "IMPORT_ROLLBACK_IN_PROGRESS"), becomes(5, "IMPORT_ROLLBACK_COMPLETE"),
			},
			[]Deployment{
				{Act: "import", From: at(1), Until: at(2), State: Complete},
				{Act: "import", From: at(3), Until: at(5), State: RolledBack},
			},
		},
		"a deletion in the middle of an update": {
			[]types.StackEvent{becomes(1, "UPDATE_IN_PROGRESS"), becomes(2, "DELETE_IN_PROGRESS")},
			[]Deployment{
				{Act: "update", From: at(1), Until: at(2), State: Failed, Reason: "cut short by: delete"},
				{Act: "delete", From: at(2), State: UnderWay},
			},
		},
		"a nested stack is a resource": {
			[]types.StackEvent{
				nested(0, "UPDATE_COMPLETE"), becomes(1, "UPDATE_IN_PROGRESS"), nested(2, "UPDATE_IN_PROGRESS"),
				nested(3, "UPDATE_ROLLBACK_COMPLETE"), nested(3, "UPDATE_COMPLETE"), becomes(4, "UPDATE_COMPLETE"),
				nested(5, "UPDATE_ROLLBACK_FAILED"),
			},
			[]Deployment{{Act: "update", From: at(1), Until: at(4), State: Complete}},
		},
		"a status of next year": {
			[]types.StackEvent{becomes(1, "UPDATE_IN_PROGRESS"), becomes(2, "UPDATE_PONDERED"), becomes(3, "UPDATE_COMPLETE")},
			[]Deployment{{Act: "update", From: at(1), Until: at(3), State: Complete}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, reached, err := eventsOf(&history{pages: [][]types.StackEvent{c.events}}).Deployments(t.Context(), at(0))
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" || !reached.IsZero() || err != nil {
				t.Errorf("%v, reached %s (-want +got):\n%s", err, reached, diff)
			}
		})
	}
}

// What ended before the time that is asked for takes one request, however long the history is.
func TestEvents_Deployments_readsAsFarAsItHasTo(t *testing.T) {
	quiet := func(minute int) types.StackEvent {
		return happens(minute, "A", "AWS::SQS::Queue", "UPDATE_COMPLETE", "")
	}
	old := []types.StackEvent{becomes(-90, "UPDATE_IN_PROGRESS"), quiet(-89), becomes(-88, "UPDATE_COMPLETE")}
	gradual := Deployment{Act: "update", From: at(-20), Until: at(15), Version: "1.1.0", State: Complete}
	var many [][]types.StackEvent // of one deployment
	for n := range 40 {
		many = append(many, []types.StackEvent{quiet(n), quiet(n)})
	}
	many = append(many, []types.StackEvent{becomes(40, "UPDATE_COMPLETE")})
	for name, c := range map[string]struct {
		pages   [][]types.StackEvent
		want    []Deployment
		asked   int
		reached time.Time
	}{
		"the last one is over": {[][]types.StackEvent{old, old, old}, nil, 1, time.Time{}},
		"it began before": {
			[][]types.StackEvent{
				old, {becomes(-20, "UPDATE_IN_PROGRESS"), ships(-19, release)}, {quiet(-5), becomes(15, "UPDATE_COMPLETE")},
			},
			[]Deployment{gradual}, 2, time.Time{},
		},
		"it ended before": {
			[][]types.StackEvent{old, {becomes(-20, "UPDATE_IN_PROGRESS")}, {becomes(-1, "UPDATE_COMPLETE")}}, nil, 1,
			time.Time{},
		},
		"one since then, one before": {
			[][]types.StackEvent{old, {quiet(-88), becomes(3, "UPDATE_IN_PROGRESS"), becomes(4, "UPDATE_COMPLETE")}},
			[]Deployment{{Act: "update", From: at(3), Until: at(4), State: Complete}}, 1, time.Time{},
		},
		"two since then, on two pages": {
			[][]types.StackEvent{
				old, {becomes(3, "UPDATE_IN_PROGRESS"), becomes(4, "UPDATE_COMPLETE")},
				{becomes(7, "UPDATE_IN_PROGRESS"), becomes(8, "UPDATE_COMPLETE")},
			},
			[]Deployment{
				{Act: "update", From: at(3), Until: at(4), State: Complete},
				{Act: "update", From: at(7), Until: at(8), State: Complete},
			}, 3, time.Time{},
		},
		"an empty page, as CloudFormation may give": {
			[][]types.StackEvent{{becomes(3, "UPDATE_IN_PROGRESS"), becomes(4, "UPDATE_COMPLETE")}, {}},
			[]Deployment{{Act: "update", From: at(3), Until: at(4), State: Complete}}, 2, time.Time{},
		},
		"more than it asks for": {many, []Deployment{{Act: "update", Until: at(40), State: Complete}}, 10, at(31)},
	} {
		t.Run(name, func(t *testing.T) {
			h := &history{pages: c.pages}
			got, reached, err := eventsOf(h).Deployments(t.Context(), at(0))
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if h.asked != c.asked || !reached.Equal(c.reached) {
				t.Errorf("asked %d times, reached %s", h.asked, reached)
			}
		})
	}
}

func TestEvents_Deployments_boundsReasonsAndNamesTheMissingRight(t *testing.T) {
	hostile := "\x1b[2J<img src=x onerror=alert(1)>\u202e\n" + strings.Repeat("é", 10_000)
	got, _, err := eventsOf(&history{pages: [][]types.StackEvent{{
		becomes(1, "UPDATE_IN_PROGRESS"), happens(2, "A", "AWS::SQS::Queue", "UPDATE_FAILED", hostile),
	}}}).Deployments(t.Context(), at(0))
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	reason := got[0].Reason
	if strings.ContainsAny(reason, "\x1b\u202e\n") || len([]rune(reason)) != 301 || !strings.HasSuffix(reason, "é…") {
		t.Errorf("%d characters: %.120q", len([]rune(reason)), reason)
	}
	denied := &smithy.GenericAPIError{Code: "AccessDenied", Message: "not authorized"}
	_, _, err = eventsOf(&history{err: denied}).Deployments(t.Context(), at(0))
	if !errors.Is(err, exit.ErrDenied) || !strings.Contains(err.Error(), "cloudformation:DescribeStackEvents") {
		t.Errorf("%v", err)
	}
}

func TestVersionOf_takesTheKeysOfPackagesAlone(t *testing.T) {
	for key, want := range map[string]string{
		release: "1.1.0", "a/b/c/2.0.0-rc.1+5/webhooks-0123456789ab.zip": "2.0.0-rc.1+5",
		"x/dev/fanout-0123456789ab.zip": "dev",
		"":                              "", "herald-prod/0123456789abcdef": "", "1.1.0/deliver-0123456789ab.zip": "",
		"herald/<b>/deliver-0123456789ab.zip": "", "herald/1.1.0/deliver-0123456789ab.zip.exe": "",
		"herald/" + strings.Repeat("1", 65) + "/deliver-0123456789ab.zip": "", "herald/../deliver-0123456789ab.zip": "",
	} {
		if got := VersionOf(key); got != want {
			t.Errorf("%s is of %q, want %q", key, got, want)
		}
	}
	for _, properties := range []string{"", "[]", "{", `{"Code":"x"}`, `{"Code":{"S3Key":1}}`, "null"} {
		if got := versionIn(properties); got != "" {
			t.Errorf("%s is of %q", properties, got)
		}
	}
}
