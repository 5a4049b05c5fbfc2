package dynamo

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// SiteKey names a tenant's endpoints at a site ([endpoint.SiteOf]).
type SiteKey struct{ TenantID, Site string }

// TestCounts counts the tests of tenants at sites, minute by minute, in the table Deliveries. Every reader of that
// table names ids of deliveries, and no id begins as these keys do, so none meets a count. In Endpoints the rows
// would be listed, restored and indexed as endpoints, and in EndpointHealth release would read them every minute. TTL
// removes them.
type TestCounts struct{ table }

// NewTestCounts returns the store on the table Deliveries.
func NewTestCounts(client *dynamodb.Client, name string) *TestCounts {
	return &TestCounts{table{client, name}}
}

const (
	// testsKey begins the key of a count. The role of webhooks may write no other key of the table.
	testsKey = "tests#"

	// countLife is the time for which a count is kept. It only has to outlast its minute.
	countLife = time.Hour
)

// CountTest counts a test at a site. counted is false if the minute has had the most that it takes. Each minute
// has its own row, so that one conditional write is enough. If the answer to it is lost, the test may count twice.
func (s *TestCounts) CountTest(
	ctx context.Context, key SiteKey, most int, now time.Time,
) (counted bool, err error) {
	minute := now.Truncate(time.Minute)
	id := testsKey + key.TenantID + "#" + key.Site + "#" + strconv.FormatInt(minute.Unix(), 10)
	_, counted, err = s.updateItem(ctx, attributes{"delivery_id": str(id)}, update{
		expression: "SET tests = if_not_exists(tests, :none) + :one, tenant_id = :tenant, expires_at = :end",
		condition:  "attribute_not_exists(tests) OR tests < :most",
		values: given{
			":none": 0, ":one": 1, ":most": most, ":tenant": key.TenantID, ":end": minute.Add(countLife).Unix(),
		},
	})
	return counted, err
}
