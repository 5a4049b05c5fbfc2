//go:build emulator

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/herald-webhooks/herald/infra/kit/client"
	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// taken are the tables that are taken back, in the order of infra/docs/recovery.md.
var taken = []string{"ApiKeys", "Endpoints", "DeadLetters", "Backlog", "Jobs"}

// The rehearsal of infra/docs/recovery.md: a tenant's endpoints, waiting deliveries and dead letters are lost, and come
// back by the page's own commands. DynamoDB would make the copies after the damage, of a moment before it. moto can
// copy only the present state, so the test makes the copies first. The test restores its own tenant only: a restore of
// other tenants would send deliveries again that were sent since.
func TestWhatIsLostIsTakenBack(t *testing.T) {
	t.Parallel()
	c := tenant(t)
	held, dead := subscribe(t, c, "user.*"), subscribe(t, c, "organization.*")
	get(t, api.Pause, api.Target{TenantID: c.TenantID, EndpointID: held.ID})
	const waiting = 3
	for range waiting {
		publish(t, c, "user.created")
	}
	waits(t, c, held, waiting)
	dead.Fail(slices.Repeat([]int{500}, 100)...)
	publish(t, c, "organization.created")
	letter := dead.death(t)
	dead.Fail()
	before := len(dead.Requests())

	profile := operator.Export() + "\n"
	t.Log(shell(t, profile+blocks(t, "recovery.md", "Make the copies")))
	lost := map[string]int{}
	for _, id := range taken {
		lost[id] = lose(t, c, id)
	}
	want := map[string]int{"ApiKeys": 1, "Endpoints": 4, "DeadLetters": 1, "Backlog": waiting, "Jobs": 0}
	if !maps.Equal(lost, want) {
		t.Fatalf("lost %v, want %v", lost, want)
	}
	restore := strings.ReplaceAll(blocks(t, "recovery.md", "Restore"), " -from ", " -tenant "+c.TenantID+" -from ")
	out := shell(t, profile+restore)
	t.Log(out)
	for _, id := range taken {
		prints(t, out, fmt.Sprintf("%s: ", operator.Tables[id]))
	}

	publish(t, c, "organization.created")
	genuine(t, dead.await(t, before+1)[before:]) // with the old secret
	if err := operator.Replay(t.Context(), letter.DeliveryID); err != nil {
		t.Fatal(err)
	}
	replayed := dead.await(t, before+2)[before:]
	genuine(t, replayed)
	if !slices.ContainsFunc(replayed, func(r receiver.Request) bool { return r.ID == letter.DeliveryID }) {
		t.Errorf("%s was not replayed", letter.DeliveryID)
	}
	waits(t, c, held, waiting) // the pause came back, too
	get(t, api.Resume, api.Target{TenantID: c.TenantID, EndpointID: held.ID})
	arrived := held.await(t, waiting)
	genuine(t, arrived)
	ids := map[string]bool{}
	for _, r := range arrived {
		ids[r.ID] = true
	}
	if len(ids) != waiting || len(arrived) != waiting {
		t.Errorf("%d deliveries of %d arrived in %d requests", len(ids), waiting, len(arrived))
	}
	if _, err := c.CreateEndpoint(t.Context(), held.Inbox.URL+"_more", "user.*"); err != nil {
		t.Errorf("with the old API key: %v", err)
	}
}

// lose deletes the tenant's items of a table, and returns how many there were.
func lose(t *testing.T, c *client.Client, id string) (items int) {
	t.Helper()
	table := operator.Tables[id]
	page, err := operator.DynamoDB.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}
	described, err := operator.DynamoDB.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range page.Items {
		owner, ok := i["tenant_id"].(*types.AttributeValueMemberS)
		if !ok || strings.TrimPrefix(owner.Value, "marks#") != c.TenantID {
			continue
		}
		key := map[string]types.AttributeValue{}
		for _, part := range described.Table.KeySchema {
			key[*part.AttributeName] = i[*part.AttributeName]
		}
		_, err := operator.DynamoDB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: key})
		if err != nil {
			t.Fatal(err)
		}
		items++
	}
	return items
}
