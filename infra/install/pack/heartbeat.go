package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// heartbeatType is the type of the heartbeat in template.yaml.
const heartbeatType = "user.updated"

// beat gives the heartbeat an example of the adopter's catalogue, if that gives the type of template.yaml another
// shape, and another type as well, if it leaves that type out: fanout would reject a heartbeat every five minutes. It
// is no parameter, because an update keeps a stack's values, and would send the type of an older catalogue.
func beat(root *yaml.Node, types []catalogue.Type, specified func(name string) bool) error {
	if specified(heartbeatType) {
		return nil
	}
	input := cfn.Child(root, "Resources", "HeartbeatSchedule", "Properties", "Target", "Input")
	switch {
	case input == nil || !strings.Contains(input.Value, heartbeatType):
		return errors.New("it has no heartbeat of type " + heartbeatType)
	case len(types) == 0:
		return errors.New("the catalogue has no type for the heartbeat")
	}
	sent := types[max(slices.IndexFunc(types, func(t catalogue.Type) bool { return t.Name == heartbeatType }), 0)]
	data := strings.ReplaceAll(sent.Example, "${", "${!") // of Sub
	input.Value = fmt.Sprintf(`{"tenant_id":"${HeartbeatTenant}","type":"%s","data":%s}`, sent.Name, data)
	return nil
}
