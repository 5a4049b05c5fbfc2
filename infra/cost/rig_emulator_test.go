//go:build emulator

package cost

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/batch"
	"github.com/herald-webhooks/herald/internal/coldstart"
	"github.com/herald-webhooks/herald/internal/config"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/endpoint"
	"github.com/herald-webhooks/herald/internal/handler/deadletter"
	"github.com/herald-webhooks/herald/internal/handler/deliver"
	"github.com/herald-webhooks/herald/internal/handler/fanout"
	"github.com/herald-webhooks/herald/internal/handler/release"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/telemetry"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// rig is one process of each function, on tables and keys of its own, with the settings of template.yaml.
// Its clock stands still unless the rig moves it.
type rig struct {
	traffic
	t         *testing.T
	cfg       aws.Config // of the emulator, past the counters
	meter     *testkit.Meter
	tables    testkit.TableNames
	values    map[string]string // of names that the template's environments refer to
	now       time.Time
	queues    queues
	receiver  receiver
	functions map[string]*function
	published int
	lambda    usage // of Lambda, for the functions
}

// function is a handler and its log.
type function struct {
	process batch.Process
	memory  float64
	log     bytes.Buffer
}

func newRig(t *testing.T, c traffic) *rig {
	t.Helper()
	cfg := testkit.Moto(t)
	tables, secrets, letters := testkit.Tables(t, cfg), testkit.Key(t, cfg), testkit.Key(t, cfg)
	r := &rig{
		traffic: c, t: t, cfg: cfg, meter: testkit.NewMeter(t, cfg), tables: tables,
		now: time.Date(2026, 5, 1, 12, 0, 0, 123e6, time.UTC), queues: queues{waiting: map[string][]message{}},
		receiver: receiver{seen: map[string]int{}}, functions: map[string]*function{},
		values: map[string]string{
			"Endpoints": tables.Endpoints, "EndpointHealth": tables.EndpointHealth, "Backlog": tables.Backlog,
			"Deliveries": tables.Deliveries, "DeadLetters": tables.DeadLetters,
			"SecretsKey.Arn": secrets, "DeadLetterKey.Arn": letters,
			"SuccessLogSample": cmp.Or(c.sample, "0"), "RecordAcknowledged": c.record,
		},
	}
	r.build()
	return r
}

// template is as much of template.yaml as decides about the cost.
type template struct {
	Globals    map[string]properties `yaml:"Globals"`
	Parameters map[string]struct {
		Default string `yaml:"Default"`
	} `yaml:"Parameters"`
	Resources map[string]struct {
		Properties properties `yaml:"Properties"`
	} `yaml:"Resources"`
}

type properties struct {
	MemorySize  float64                      `yaml:"MemorySize"`
	Environment map[string]map[string]string `yaml:"Environment"`
}

// build makes the functions of the template.
func (r *rig) build() {
	r.t.Helper()
	var c template
	if err := yaml.Unmarshal(must(os.ReadFile(templateFile)), &c); err != nil {
		r.t.Fatal(err)
	}
	r.t.Setenv("STAGE", "prod")
	for name, build := range map[string]func(coldstart.Process) batch.Process{
		"fanout": r.fanout, "deliver": r.deliver, "deadletter": r.deadletter, "release": r.release,
	} {
		own := c.Resources[strings.ToUpper(name[:1])+name[1:]+"Function"].Properties
		for variable, value := range own.Environment["Variables"] {
			r.t.Setenv(variable, os.Expand(value, func(of string) string { return r.value(c, of) }))
		}
		f := &function{memory: cmp.Or(own.MemorySize, c.Globals["Function"].MemorySize)}
		f.process = build(coldstart.Process{
			AWS: r.queues.config(r.meter.Config()), Log: telemetry.NewLogger(&f.log),
			Metrics: telemetry.NewMetrics(&f.log, "prod", name, r.clock),
		})
		r.functions[name] = f
	}
}

// value is what a name stands for in the template's environments.
func (r *rig) value(c template, name string) string {
	parameter, ok := c.Parameters[name]
	if ok && r.values[name] == "" {
		return parameter.Default
	}
	return cmp.Or(r.values[name], queueURL(name))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (r *rig) clock() time.Time { return r.now }

func (r *rig) fanout(p coldstart.Process) batch.Process {
	s := must(config.Load[fanout.Settings]())
	h := must(fanout.New(fanout.Config{Settings: s, AWS: p.AWS, Log: p.Log, Metrics: p.Metrics}))
	h.Now = r.clock
	return h.Process
}

func (r *rig) deliver(p coldstart.Process) batch.Process {
	s := must(config.Load[deliver.Settings]())
	h := must(deliver.New(deliver.Config{Settings: s, AWS: p.AWS, Log: p.Log, Metrics: p.Metrics}))
	h.Now, h.Random = r.clock, func() float64 { return 0 }
	h.Attempts.Now, h.Attempts.Client = r.clock, &r.receiver
	return h.Process
}

func (r *rig) deadletter(p coldstart.Process) batch.Process {
	s := must(config.Load[deadletter.Settings]())
	h := deadletter.New(deadletter.Config{Settings: s, AWS: p.AWS, Log: p.Log, Metrics: p.Metrics})
	h.Now = r.clock
	return h.Process
}

func (r *rig) release(p coldstart.Process) batch.Process {
	s := must(config.Load[release.Settings]())
	h := must(release.New(release.Config{Settings: s, AWS: p.AWS, Log: p.Log, Metrics: p.Metrics}))
	h.Now = r.clock
	return func(ctx context.Context, _ []message) []string {
		if err := h.Tick(ctx); err != nil {
			panic(err)
		}
		return nil
	}
}

func tenantID(n int) string { return fmt.Sprintf("tenant_01JD00000000000000%06d", n) }

// subscribe gives the tenant an endpoint.
func (r *rig) subscribe(tenant, n int) {
	r.t.Helper()
	e := endpoint.Endpoint{
		ID: fmt.Sprintf("webhook_01JD%06d0000000000%06d", tenant, n), TenantID: tenantID(tenant),
		URL: "https://receiver.example.com/hook", Description: "Synchronises accounts",
		Events: []string{"user.*", "organization.*"}, Status: endpoint.Active,
		CreatedAt: r.now, UpdatedAt: r.now, SecretVersion: 1, SecretRotatedAt: r.now, Revision: "0",
	}
	id := keyring.SecretID{TenantID: e.TenantID, EndpointID: e.ID, Version: 1}
	secrets := keyring.NewSecrets(kms.NewFromConfig(r.cfg), r.values["SecretsKey.Arn"])
	e.SealedSecret = must(secrets.Seal(r.t.Context(), id, "whs_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwABCDEFGHIJK"))
	endpoints := dynamo.NewEndpoints(dynamodb.NewFromConfig(r.cfg), r.tables.Endpoints)
	if err := endpoints.Create(r.t.Context(), e); err != nil {
		r.t.Fatal(err)
	}
}
