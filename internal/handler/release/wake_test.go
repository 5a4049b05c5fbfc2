package release

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/google/go-cmp/cmp"
)

// office has jobs or not, and notes who is woken for them.
type office struct {
	running bool
	fault   error
	woken   []string
}

func (o *office) Running(context.Context) (bool, error) { return o.running, nil }

func (o *office) Invoke(
	_ context.Context, in *lambda.InvokeInput, _ ...func(*lambda.Options),
) (*lambda.InvokeOutput, error) {
	o.woken = append(o.woken, aws.ToString(in.FunctionName)+" "+string(in.InvocationType)+" "+string(in.Payload))
	return nil, o.fault
}

func TestWakeReplay_invokesReplayWhileAJobIsRunning(t *testing.T) {
	o := &office{}
	wake := wakeReplay(o, o, "replay")
	if err := wake(t.Context()); err != nil || o.woken != nil {
		t.Errorf("without a job: %v, %v", o.woken, err)
	}
	o.running = true
	err := wake(t.Context())
	want := []string{`replay Event {"action":"work_jobs","operator":"release"}`}
	if diff := cmp.Diff(want, o.woken); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	o.fault = errors.New("ThrottlingException")
	if err := wake(t.Context()); !errors.Is(err, o.fault) {
		t.Errorf("a fault answers %v", err)
	}
}
