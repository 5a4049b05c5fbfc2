//go:build emulator

package template

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// waitsFor are the resources that CloudFormation creates before this one, by logical id.
func waitsFor(tpl template, id string) map[string]bool {
	all := map[string]bool{}
	var follow func(id string)
	follow = func(id string) {
		r := tpl.Resources[id]
		for _, name := range append(references(r.Properties), fmt.Sprint(r.All["DependsOn"])) {
			for _, one := range strings.Fields(strings.Trim(name, "[]")) {
				if tpl.Resources[one].Type != "" && !all[one] {
					all[one] = true
					follow(one)
				}
			}
		}
	}
	follow(id)
	return all
}

// references are the logical ids and parameters that functions in a value name.
func references(v any) (all []string) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			all = append(all, references(element)...)
		}
	case object:
		for key, value := range v {
			all = append(all, referencesBy(key, value)...)
		}
	}
	return all
}

func referencesBy(key string, value any) (all []string) {
	switch key {
	case "Ref":
		return []string{fmt.Sprint(value)}
	case "Fn::GetAtt":
		id, _, _ := strings.Cut(fmt.Sprint(cfn.List(value)[0]), ".")
		return []string{id}
	case "Fn::Sub":
		os.Expand(fmt.Sprint(cfn.List(value)[0]), func(name string) string {
			id, _, _ := strings.Cut(name, ".")
			all = append(all, id)
			return ""
		})
		return all
	}
	return references(value)
}

// KMS refuses a policy with a principal that is missing or not yet visible to KMS. CloudFormation does not try again,
// but rolls the stack back. Since 2024 it creates dependent resources before a role is visible everywhere. Lambda
// creates a function only once it can assume the function's role, so a key waits for the functions as well.
func TestKeysWaitForTheRolesThatTheirPoliciesName(t *testing.T) {
	for name, parameters := range map[string][]string{"by default": nil, "with everything": everything} {
		tpl := translated(t, parameters...)
		for key, r := range tpl.OfType("AWS::KMS::Key") {
			before, roles := waitsFor(tpl, key), 0
			for _, s := range statements(r.Properties["KeyPolicy"]) {
				for _, principal := range list(at(s, "Principal")["AWS"]) {
					text, role := fmt.Sprint(principal), target(principal)
					if strings.HasSuffix(text, ":root]") {
						continue // the account
					}
					roles++
					if tpl.Resources[role].Type != "AWS::IAM::Role" || !before[role] {
						t.Errorf("%s, %s: waits for nothing that makes %s", name, key, text)
					}
				}
			}
			functions := 0
			for id := range before {
				if tpl.Resources[id].Type == "AWS::Lambda::Function" {
					functions++
				}
			}
			if roles == 0 || functions == 0 {
				t.Errorf("%s, %s: waits for %d roles and %d functions", name, key, roles, functions)
			}
		}
	}
}
