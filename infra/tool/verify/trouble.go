package verify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/herald-webhooks/herald/infra/examples"
	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

func paused(ctx context.Context, r *run) (string, error) {
	whom := api.Target{TenantID: Tenant, EndpointID: r.endpoint.ID}
	if _, err := client.Ask(ctx, r.Client, api.Pause, whom); err != nil {
		return "", err
	}
	m, err := r.publish(ctx, "organization.created")
	if err != nil {
		return "", err
	}
	silentErr := r.silent(ctx, m)
	if _, err := client.Ask(ctx, r.Client, api.Resume, whom); err != nil {
		return "", err
	}
	if silentErr != nil {
		return "", fmt.Errorf("a paused endpoint: %w", silentErr)
	}
	_, err = r.arrive(ctx, m)
	return "held, and sent after the pause", err
}

// maxSchedule is the longest schedule to wait for.
const maxSchedule = 3 * time.Minute

func death(ctx context.Context, r *run) (string, error) {
	if takes := r.schedule(); takes > maxSchedule {
		return "", notShown(fmt.Sprintf("the schedule takes %s: verify a stack with the parameters of [verify]", takes))
	}
	e, err := r.subscribe(ctx, failing("death", 24*time.Hour), "user.banned")
	if err != nil {
		return "", err
	}
	m, err := r.publish(ctx, "user.banned")
	if err != nil {
		return "", err
	}
	if _, err := r.arrive(ctx, m); err != nil {
		return "", err
	}
	letter, err := r.sealed(ctx, e, m)
	if err != nil {
		return "", err
	}
	says := fmt.Sprintf("after %d attempts; replayed with the same wh-id and body", letter.Attempts)
	return says, r.replayed(ctx, e, letter, m)
}

// sealed waits for the dead letter of the endpoint, and opens it.
func (r *run) sealed(ctx context.Context, e client.Endpoint, m examples.Message) (api.OpenedDeadLetter, error) {
	letters, err := r.Client.AwaitDeath(ctx, r.schedule()+r.Patience, e.ID, 1)
	if err != nil {
		return api.OpenedDeadLetter{}, fmt.Errorf("%w: %s", err, r.stuck(ctx, m))
	}
	opened, err := r.Client.DeadLetter(ctx, letters[0].DeliveryID)
	if err == nil && opened.Body != m.Payload() {
		err = errors.New("the body of the dead letter is not that which was published")
	}
	return opened, err
}

// replayed replays the dead letter to a receiver that works.
func (r *run) replayed(ctx context.Context, e client.Endpoint, letter api.OpenedDeadLetter, m examples.Message) error {
	const name = "replay"
	change := map[string]any{"url": r.Receiver.URL() + "/" + name}
	if err := r.tenant.Call(ctx, http.MethodPatch, "/v1/webhooks/"+e.ID, change, nil); err != nil {
		return err
	}
	if err := r.Client.Replay(ctx, letter.DeliveryID); err != nil {
		return err
	}
	return r.awaits(ctx, m, "the replayed delivery", func(ctx context.Context) (bool, error) {
		got, err := r.Receiver.Requests(ctx, name)
		return len(got) > 0 && got[0].ID == letter.DeliveryID && string(got[0].Body) == m.Payload(), err
	})
}

func alarms(ctx context.Context, r *run) (string, error) {
	if r.Alarms == nil {
		return "", notShown("the local stack has no alarms")
	}
	var on []string
	for pages := cloudwatch.NewDescribeAlarmsPaginator(r.Alarms, &cloudwatch.DescribeAlarmsInput{
		AlarmNamePrefix: aws.String(r.Name + "-"), StateValue: types.StateValueAlarm,
	}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", noRight("listing alarms", "cloudwatch:DescribeAlarms", err)
		}
		for _, a := range page.MetricAlarms {
			name := aws.ToString(a.AlarmName)
			if id := r.ofStack(name); id != "" && id != "RejectedEventsAlarm" {
				on = append(on, name)
			}
		}
	}
	if len(on) > 0 {
		return "", fmt.Errorf("these are on: %s", strings.Join(on, ", "))
	}
	return "none of the stack's, apart from that on the event which the run had rejected", nil
}

// ofStack returns the logical id of an alarm of the stack, and "" for any other alarm. The template or CloudFormation
// names the stack's alarms by its name and the logical id, and CloudFormation adds a random part. Alarms of other
// stacks may begin with the same name.
func (r *run) ofStack(name string) string {
	parts := strings.Split(strings.TrimPrefix(name, r.Name+"-"), "-")
	if len(parts) > 2 || !strings.HasSuffix(parts[0], "Alarm") {
		return ""
	}
	return parts[0]
}
