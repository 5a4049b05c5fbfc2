//go:build emulator

package template

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/infra/kit/functions"
	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/queue"
	"github.com/herald-webhooks/herald/internal/operators/apikeys"
	"github.com/herald-webhooks/herald/internal/operators/control"
	"github.com/herald-webhooks/herald/internal/operators/inspect"
	"github.com/herald-webhooks/herald/internal/operators/invoke"
	"github.com/herald-webhooks/herald/internal/operators/replay"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/tenants/webhooks"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// Every function's role allows all of its calls, and nothing else.
//
// Threat of a receiver: gains rights through `deliver`. Held by: its role lifts no pause, discards nothing that waits,
// writes to no owner.
func TestRolesAllowTheCallsOfTheirFunctions(t *testing.T) {
	s := newStage(t)
	s.tellOwners()
	s.publishKeys()
	by := s.start()
	s.seed()
	s.send("RetryQueue", queue.Outgoing{Body: "unreadable"}) // for a line about a fault
	s.down["webhook_bad"] = true                             // when its delivery has the last attempt
	s.consume(by)
	delete(s.down, "webhook_bad")
	for range 2 {
		s.publish("acme", 1)
		s.publish("slow", 1)
		s.publish("other", 2)
		s.reject()
		for _, id := range []string{"webhook_bad", "webhook_off", "webhook_slow"} {
			s.put("RetryQueue", id, 1)
		}
		s.consume(by)
		s.runRelease(by.Release)
		s.now = s.now.Add(time.Hour)
	}
	s.manage()
	s.operate()
	s.workJobs(by)
	s.erase()
	c := calls{all: map[string]map[asked]bool{}}
	c.add(t, s)
	c.refused(t, s.tpl)
	c.unused(t, s.tpl)
	told := translated(t, "Notices=on", "NoticesContact=on")
	d := deployment{template: told, settings: configurations(t, s.tpl)["default"]}
	c.confirmed(t, d)
	c.bounded(t, d)
	s.answers()
}

// answers holds the fields of the saved queries against the lines that the functions have written.
func (s *stage) answers() {
	s.t.Helper()
	written := map[string]bool{}
	audited := strings.Join(testkit.LogLines(s.t, s.cfg, s.resources["AuditLogs"]), "\n")
	for line := range strings.Lines(s.output.String() + s.ran.String() + audited) {
		var fields object
		if err := json.Unmarshal([]byte(line), &fields); err == nil {
			for field := range fields {
				written[field] = true
			}
		}
	}
	for id, fields := range queried(s.t, s.tpl) {
		for _, field := range fields {
			if !written[field] {
				s.t.Errorf("%s asks for %s, which no function has logged", id, field)
			}
		}
	}
}

// seed stores a slow tenant, deliveries before their last attempt, and endpoints with waiting deliveries. Among these
// are some that release sends, some that it puts back, some that it drops and some that it buries.
func (s *stage) seed() {
	s.t.Helper()
	circuits := dynamo.NewCircuits(s.tables, s.resources["EndpointHealth"])
	charging := dynamo.NewCircuits(dynamodb.NewFromConfig(s.aws("deliver")), s.resources["EndpointHealth"])
	until, err := charging.Charge(s.t.Context(), "slow", time.Hour, s.now) // the stage's clock stands while deliver works
	s.must(err)
	s.must(charging.MoveSlow(s.t.Context(), "slow", until, s.now.Add(10*time.Hour)))
	_, err = circuits.Charge(s.t.Context(), "passed", time.Hour, s.now.Add(-48*time.Hour))
	s.must(err)
	sharing := dynamo.NewTokens(dynamodb.NewFromConfig(s.aws("deliver")), s.resources["EndpointHealth"])
	claim, good := token.Kept{Of: "a", Claim: "1"}, dynamo.EndpointKey{TenantID: "acme", EndpointID: "webhook_good"}
	_, _, err = sharing.Claim(s.t.Context(), good, claim, s.now)
	s.must(err)
	s.must(sharing.Store(s.t.Context(), good, claim, s.now))
	s.limit("webhook_good", 300)
	s.down["webhook_slow"] = true
	last := s.message("webhook_bad")
	last.Attempts = 9
	s.send("RetryQueue", queue.Of(last, 0))
	s.put("DeadLetterQueue", "webhook_good", 1)
	s.send("EventsDeadLetterQueue", queue.Outgoing{Body: `{"id":"e","tenant_id":"acme","type":"user.updated","data":{}}`})
	for id, state := range map[string]circuit.State{
		"webhook_good": circuit.Recovering, "webhook_off": circuit.Open, "webhook_gone": circuit.Failing,
	} {
		item := circuit.Item{TenantID: tenants[id], EndpointID: id, Version: 1, State: state, Since: s.now}
		_, _, err := circuits.Store(s.t.Context(), circuit.Item{}, item)
		s.must(err)
		err = circuits.Hold(s.t.Context(), dynamo.EndpointKey{TenantID: tenants[id], EndpointID: id}, s.now, s.now)
		s.must(err)
		s.wait(s.message(id), s.now.Add(time.Hour), true)
		due, later := s.message(id), s.message(id)
		due.Attempts, due.Life.DueAt = 9, s.now.Add(time.Hour)
		later.Attempts, later.Life.DueAt = 9, s.now.Add(time.Hour)
		s.wait(due, s.now, id == "webhook_off")
		s.wait(later, s.now.Add(time.Hour), true)
	}
}

// hold stores a lease for an endpoint.
func (s *stage) hold(id string) {
	s.t.Helper()
	key := dynamo.EndpointKey{TenantID: tenants[id], EndpointID: id}
	circuits := dynamo.NewCircuits(s.tables, s.resources["EndpointHealth"])
	s.must(circuits.Hold(s.t.Context(), key, s.now.Add(5*time.Minute), s.now))
}

// limit sets the limit of an endpoint, as its owner.
func (s *stage) limit(id string, limit int) {
	s.t.Helper()
	key, err := attributevalue.MarshalMap(map[string]string{"tenant_id": tenants[id], "endpoint_id": id})
	s.must(err)
	values, err := attributevalue.MarshalMap(map[string]int{":limit": limit})
	s.must(err)
	_, err = s.tables.UpdateItem(s.t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(s.resources["Endpoints"]), UpdateExpression: aws.String("SET rate_limit = :limit"),
		Key: key, ExpressionAttributeValues: values,
	})
	s.must(err)
}

// manage has a tenant make every request that it can make.
func (s *stage) manage() {
	s.t.Helper()
	h := s.webhooks()
	key := s.ask(s.people()["apikeys"], `{"action":"issue","operator":"ann","tenant_id":"acme"}`)["api_key"]
	id := ""
	for _, r := range [][3]string{
		{"POST", "", `{"url":"https://example.com/","events":["*"]}`}, {"GET", "", ""}, {"GET", "/", ""},
		{"PATCH", "/", `{"description":"x","headers":{"X":"y"},"contact":"ann",
			"oauth2":{"token_url":"https://id.example/","client_id":"a","client_secret":"b"}}`}, {"DELETE", "/", ""},
		{"POST", "//restore", ""}, {"POST", "//test", ""}, {"GET", "//jwks.json", ""}, {"DELETE", "/", ""},
	} {
		path := "/v1/webhooks" + strings.Replace(r[1], "/", "/"+id, 1)
		request, err := json.Marshal(object{
			"rawPath": path, "body": r[2], "requestContext": object{"http": object{"method": r[0]}},
			"headers": object{"authorization": fmt.Sprint("Bearer ", key), "content-type": "application/json"},
		})
		s.must(err)
		answer := s.ask(h, string(request))
		if status := answer["statusCode"].(float64); status >= 300 {
			s.t.Errorf("%s %s: %v", r[0], path, answer)
		}
		if answer["statusCode"] == 201.0 {
			var made object
			decode(s.t, []byte(answer["body"].(string)), &made)
			id = made["id"].(string)
		}
	}
}

func (s *stage) webhooks() *webhooks.Handler {
	s.t.Helper()
	h, err := webhooks.New(webhooks.Config{
		Settings: functions.Settings[webhooks.Settings](s.t, s.options, "webhooks"), AWS: s.aws("webhooks"),
		Log: functions.Log(&s.output),
	})
	s.must(err)
	return h
}

// Dead letters and deleted endpoints are kept for as long as the template says.
func TestDeadLettersAndDeletedEndpointsExpire(t *testing.T) {
	s := newStage(t)
	s.publishKeys()
	s.put("DeadLetterQueue", "webhook_good", 1)
	s.consume(s.start())
	s.manage()
	for table, row := range map[string]struct{ since, days string }{
		"DeadLetters": {"died_at", "DeadLetterDays"}, "Endpoints": {"deleted_at", "DeletedEndpointDays"},
	} {
		rows, err := s.tables.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(s.resources[table])})
		s.must(err)
		expiring, ends := 0, map[float64]bool{}
		var about []float64 // the ends of what owners say about endpoints, which go with these
		for _, item := range rows.Items {
			var stored map[string]any
			s.must(attributevalue.UnmarshalMap(item, &stored))
			since, done := stored[row.since].(string)
			expires, expiresEver := stored["expires_at"].(float64)
			if id, _ := stored["endpoint_id"].(string); strings.HasPrefix(id, "#about#") {
				about = append(about, expires)
				continue
			}
			if done != expiresEver {
				t.Errorf("%s: %v", table, stored)
			}
			if !done {
				continue
			}
			expiring++
			ends[expires] = true
			from, err := time.Parse(time.RFC3339, since)
			s.must(err)
			days := settings(s.options.Parameters).number(t, row.days)
			if want := from.Unix() + int64(days)*24*3600; int64(expires) != want {
				t.Errorf("%s: expires at %v, want %d", table, expires, want)
			}
		}
		for _, end := range about {
			if !ends[end] {
				t.Errorf("what an owner says expires at %v, and endpoints at %v", end, ends)
			}
		}
		if table == "Endpoints" && len(about) != 1 {
			t.Errorf("%d endpoints of which something is said", len(about))
		}
		if ttl := at(s.tpl.Resources[table].Properties, "TimeToLiveSpecification"); expiring == 0 ||
			ttl["AttributeName"] != "expires_at" || ttl["Enabled"] != true {
			t.Errorf("%s: %d expire by %v", table, expiring, ttl)
		}
	}
}

// people are the functions of operators.
func (s *stage) people() map[string]lambda.Handler {
	s.t.Helper()
	log := functions.Log(&s.output)
	again := replay.New(replay.Config{
		Settings: functions.Settings[replay.Settings](s.t, s.options, "replay"), AWS: s.aws("replay"), Log: log,
	}).Function()
	looks := inspect.New(inspect.Config{
		Settings: functions.Settings[inspect.Settings](s.t, s.options, "inspect"), AWS: s.aws("inspect"), Log: log,
	}).Function()
	keys := apikeys.New(apikeys.Config{
		Settings: functions.Settings[apikeys.Settings](s.t, s.options, "apikeys"), AWS: s.aws("apikeys"), Log: log,
	}).Function()
	return map[string]lambda.Handler{
		"inspect": looks, "inspect:scan": testkit.ByAlias(looks, invoke.Scan),
		"replay": again, "replay:delete": testkit.ByAlias(again, invoke.ForGood),
		"control": control.New(control.Config{
			Settings: functions.Settings[control.Settings](s.t, s.options, "control"), AWS: s.aws("control"), Log: log,
		}).Function(),
		"apikeys": keys, "apikeys:revoke": testkit.ByAlias(keys, invoke.Revoke),
		"webhooks": s.webhooks(),
	}
}
