package verify

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// cloudFormation has a receiver's stack of an earlier run, which is gone at the third look after its deletion began.
type cloudFormation struct {
	deleting, made bool
	looks          int
}

func (c *cloudFormation) Do(r *http.Request) (*http.Response, error) {
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, action, _ := strings.Cut(string(request), "Action=")
	action, _, _ = strings.Cut(action, "&")
	const gone = 3
	status, answer := http.StatusOK, ""
	switch {
	case action == "DeleteStack":
		c.deleting = true
	case action == "CreateStack" && c.looks < gone:
		status, answer = http.StatusBadRequest, "AlreadyExistsException"
	case action == "CreateStack":
		c.made = true
	case c.made:
		answer = stackOf("CREATE_COMPLETE", "new")
	case c.deleting || c.looks >= gone:
		if c.looks++; c.looks < gone {
			answer = stackOf("DELETE_IN_PROGRESS", "old")
		} else {
			status, answer = http.StatusBadRequest, "ValidationError"
		}
	default:
		answer = stackOf("CREATE_COMPLETE", "old")
	}
	if status == http.StatusOK {
		answer = "<R><" + action + "Result>" + answer + "</" + action + "Result></R>"
	} else {
		answer = "<R><Error><Code>" + answer + "</Code></Error></R>"
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func stackOf(status, queue string) string {
	return "<Stacks><member><StackStatus>" + status + "</StackStatus><Outputs><member><OutputKey>Queue</OutputKey>" +
		"<OutputValue>" + queue + "</OutputValue></member></Outputs></member></Stacks>"
}

// The queue of an interrupted run has requests of its inboxes, which have the same names.
func TestStartOnAWS_takesNothingOfAnEarlierRun(t *testing.T) {
	for name, earlier := range map[string]*cloudFormation{
		"interrupted": {}, "just ended": {deleting: true}, "none": {looks: 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, err := StartOnAWS(context.Background(), aws.Config{
				Region: "eu-central-1", HTTPClient: earlier, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
			}, "herald")
			if err != nil || r.queue != "new" {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		})
	}
}
