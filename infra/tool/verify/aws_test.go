package verify

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
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
	unreserved     int        // concurrency of the account
	asked          url.Values // of the creation
	fails          string     // a stack's status after it was made, or the code of an error of DeleteStack
}

func (c *cloudFormation) Do(r *http.Request) (*http.Response, error) {
	if r.Body == nil { // of Lambda
		answer := fmt.Sprintf(`{"AccountLimit":{"UnreservedConcurrentExecutions":%d}}`, c.unreserved)
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)),
		}, nil
	}
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(string(request))
	if err != nil {
		return nil, err
	}
	action := values.Get("Action")
	const gone = 3
	status, answer := http.StatusOK, ""
	switch {
	case c.made && action == "DeleteStack" && strings.HasPrefix(c.fails, "AccessDenied"):
		status, answer = http.StatusBadRequest, c.fails
	case c.made && action == "DescribeStacks" && c.deleting && c.fails != "":
		answer = stackOf(c.fails, "new")
	case c.made && action == "DescribeStacks" && c.deleting:
		status, answer = http.StatusBadRequest, "ValidationError"
	case action == "DeleteStack":
		c.deleting = true
	case action == "CreateStack" && c.looks < gone:
		status, answer = http.StatusBadRequest, "AlreadyExistsException"
	case action == "CreateStack":
		c.made, c.deleting, c.asked = true, false, values
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

// started starts a receiver in an account where none has been started before.
func started(t *testing.T, c *cloudFormation) *AWS {
	t.Helper()
	c.looks = 3
	r, err := StartOnAWS(context.Background(), aws.Config{
		Region: "eu-central-1", HTTPClient: c, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
	}, "herald")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// parameters are those of the stack's creation.
func (c *cloudFormation) parameters() map[string]string {
	all := map[string]string{}
	for n := 1; c.asked.Has(fmt.Sprintf("Parameters.member.%d.ParameterKey", n)); n++ {
		member := fmt.Sprintf("Parameters.member.%d.Parameter", n)
		all[c.asked.Get(member+"Key")] = c.asked.Get(member + "Value")
	}
	return all
}

// Its address is public: a caller without the secret is refused, and uses up the receiver's share alone.
//
// Threat of the account: uses the receiver or a probe of `herald verify`. Held by: a secret address; a probe works for
// five minutes.
func TestStartOnAWS_makesAReceiverThatNoOtherCanUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for unreserved, want := range map[int]string{1000: "100", 200: "100", 199: "0", 10: "0", 0: "0"} {
			one, two := &cloudFormation{unreserved: unreserved}, &cloudFormation{unreserved: unreserved}
			first, second := started(t, one), started(t, two)
			secret := one.parameters()["Secret"]
			if len(secret) < 32 || secret == two.parameters()["Secret"] || first.URL() == second.URL() ||
				!strings.HasSuffix(first.URL(), "/"+secret) {
				t.Errorf("secrets %q and %q, at %s", secret, two.parameters()["Secret"], first.URL())
			}
			if got := one.parameters()["Concurrency"]; got != want {
				t.Errorf("of %d unreserved, reserves %s, want %s", unreserved, got, want)
			}
		}
	})
}

func TestAWS_Close_saysWhatIsLeft(t *testing.T) {
	for fails, want := range map[string]string{
		"": "", "AccessDenied": "AccessDenied", "DELETE_FAILED": "herald-verify-receiver",
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &cloudFormation{unreserved: 1000}
			r := started(t, c)
			c.fails = fails
			err := r.Close(context.Background())
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", fails, err, want)
			}
		})
	}
}
