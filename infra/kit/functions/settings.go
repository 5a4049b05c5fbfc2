// Package functions makes Herald's own functions for tests, simulations and measurements, as template.yaml configures
// them: on AWS or an emulator of it ([OnAWS]), and on the model of AWS ([OnModel]).
//
// It promises the settings that Lambda would give them: each function's environment in the template, with the
// parameters' defaults or the caller's values, read into the function's own Settings. It repeats no value of the
// template, and a parameter that the template lacks is an error. It never starts a program.
package functions

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/caarlos0/env/v11"

	"github.com/herald-webhooks/herald/infra/kit/parameters"
	"github.com/herald-webhooks/herald/internal/pipeline/deliver"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
	"github.com/herald-webhooks/herald/internal/testkit/tools"
)

// Options are the surroundings of the functions.
type Options struct {
	Parameters map[string]string // other than the template's defaults, by their names and those of AWS ("AWS::StackName")
	Resources  map[string]string // by the names of the environments: "Endpoints", "RetryQueue.Arn"
	AWS        func(function string) aws.Config
	Receivers  delivery.Poster
	Now        func() time.Time
	Output     func(function string) io.Writer // for its log and metrics
}

// template is the checkout's, which no caller changes.
var template = sync.OnceValues(func() (cfn.Template, error) {
	root, err := tools.Root()
	if err != nil {
		return cfn.Template{}, err
	}
	return cfn.Read(filepath.Join(root, "template.yaml"))
})

// Read reads the settings of a function, such as "deliver". A queue that is not among the resources has the URL
// "https://queues/NAME" and the ARN "https://queues/NAME.Arn".
func Read[S any](o Options, function string) (settings S, err error) {
	tpl, err := template()
	if err != nil {
		return settings, err
	}
	for name := range o.Parameters {
		if tpl.Parameters[name] == nil && !strings.HasPrefix(name, "AWS::") {
			return settings, fmt.Errorf("the template has no parameter %s", name)
		}
	}
	settings, err = env.ParseAsWithOptions[S](env.Options{
		RequiredIfNoDef: true, Environment: o.environment(tpl, function),
	})
	if err != nil {
		return settings, fmt.Errorf("reading the environment of %s: %w", function, err)
	}
	return settings, nil
}

// environment has a function's variables, with references replaced.
func (o Options) environment(tpl cfn.Template, function string) map[string]string {
	variables := map[string]string{}
	value := func(name string) string { return o.value(tpl, name) }
	for _, properties := range propertiesOf(tpl, function) {
		for variable, of := range cfn.At(properties, "Environment", "Variables") {
			text, _ := of.(string)
			if substituted, ok := of.(cfn.Object); ok {
				text, _ = substituted["Fn::Sub"].(string)
			}
			variables[variable] = os.Expand(text, value)
		}
	}
	return variables
}

// propertiesOf are the properties of all functions and then those of one, which win.
func propertiesOf(tpl cfn.Template, function string) []cfn.Object {
	id := strings.ToUpper(function[:1]) + function[1:] + "Function"
	return []cfn.Object{cfn.At(tpl.Globals, "Function"), tpl.Resources[id].Properties}
}

// value resolves a name in an environment.
func (o Options) value(tpl cfn.Template, name string) string {
	if set, ok := o.Parameters[name]; ok {
		return set
	}
	if parameter, ok := tpl.Parameters[name]; ok {
		return fmt.Sprint(parameter["Default"])
	}
	return cmp.Or(o.Resources[name], QueueURL(name))
}

// QueueURL is the URL of a queue that is not among the resources.
func QueueURL(name string) string { return "https://queues/" + name }

// Settings is [Read] for a test.
func Settings[S any](t testing.TB, o Options, function string) S {
	t.Helper()
	settings, err := Read[S](o, function)
	if err != nil {
		t.Fatalf("functions: %v", err)
	}
	return settings
}

// Value is the value of a parameter.
func Value(t testing.TB, o Options, parameter string) string {
	t.Helper()
	tpl, err := template()
	if err != nil {
		t.Fatalf("functions: %v", err)
	}
	if tpl.Parameters[parameter] == nil {
		t.Fatalf("functions: the template has no parameter %s", parameter)
	}
	return o.value(tpl, parameter)
}

// DefaultRules returns deliver's rules at the template's defaults, for mappings with so many processes each. It panics
// where the checkout has no template that deliver accepts.
func DefaultRules(processes int) deliver.Rules {
	settings, err := Read[deliver.Settings](Options{Parameters: map[string]string{
		parameters.DeliverMaximumConcurrency: strconv.Itoa(processes),
	}}, "deliver")
	if err != nil {
		panic(err)
	}
	h, err := deliver.New(deliver.Config{Settings: settings})
	if err != nil {
		panic(err)
	}
	return h.Rules
}
