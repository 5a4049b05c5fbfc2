// Package rights judges calls by the policies of AWS, as IAM does: by an evaluator of this project, and by another one
// that is independent of it. Both judge the same [Call], and tests compare their verdicts.
//
// Own evaluator: it promises to refuse what it does not know. A condition operator, a kind of principal or an element
// of a statement that it does not know is an error, and never a verdict. It knows neither service control policies nor
// sessions. A principal is a role, a user or the name of a service. It is for tests and tools.
package rights

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// Verdicts are those of the other evaluator.
const (
	Allowed    = "Allowed"
	Implicitly = "ImplicitlyDenied"
	Explicitly = "ExplicitlyDenied"
)

// Call is a call as IAM sees it, with the policies that bear upon it.
type Call struct {
	Principal      string         `json:"principal"` // an ARN, or a service such as sns.amazonaws.com
	Action         string         `json:"action"`
	Resource       string         `json:"resource"`
	Account        string         `json:"account"` // of the resource
	Context        map[string]any `json:"context"`
	Identity       any            `json:"identity"` // statements
	ResourcePolicy any            `json:"resourcePolicy"`
	Boundary       []any          `json:"boundary,omitempty"` // statements of the principal's boundary, if it has one
}

// Judge is the verdict of this project's evaluator.
func Judge(c Call) (string, error) {
	policy, _ := c.ResourcePolicy.(map[string]any)
	var found [3]effects
	for i, statements := range []any{c.Identity, policy["Statement"], c.Boundary} {
		read, err := c.effects(cfn.List(statements), i == 1)
		if err != nil {
			return "", fmt.Errorf("judging %s on %s: %w", c.Action, c.Resource, err)
		}
		found[i] = read
	}
	identity, resource := found[0], found[1]
	boundary := found[2]
	switch {
	case identity.denies || resource.denies || boundary.denies:
		return Explicitly, nil
	case c.Boundary != nil && !boundary.allows:
		return Implicitly, nil
	case c.granted(identity, resource):
		return Allowed, nil
	}
	return Implicitly, nil
}

// granted says whether the two policies allow the call together. To a key IAM gives no right unless the key's policy
// leaves it to IAM.
func (c Call) granted(identity, resource effects) bool {
	service := strings.HasSuffix(c.Principal, ".amazonaws.com")
	if resource.allows && (c.of(c.Account) || service) {
		return true
	}
	open := c.of(c.Account) && !isKey.MatchString(c.Resource)
	return identity.allows && (resource.allows || resource.delegates || open)
}

// effects are those of the statements of a policy that apply to a call. One that names the principal's account leaves
// it to the account's own policies whether the principal may.
type effects struct{ allows, delegates, denies bool }

// of says whether the principal is of the account that a policy names by its id, or by its root.
func (c Call) of(account string) bool {
	parts := strings.SplitN(c.Principal, ":", 6)
	return len(parts) == 6 && (account == parts[4] || account == "arn:aws:iam::"+parts[4]+":root")
}

// effects reads a policy. Statements of a resource's policy name principals.
func (c Call) effects(statements []any, ofResource bool) (found effects, err error) {
	for _, one := range statements {
		s, ok := one.(map[string]any)
		if !ok {
			return found, fmt.Errorf("%v is no statement", one)
		}
		applies, err := c.applies(s)
		named, delegated := true, false
		if err == nil && ofResource {
			named, delegated, err = c.named(s["Principal"])
		}
		if err != nil {
			return found, err
		}
		if applies {
			found = found.with(s["Effect"] == "Deny", named, delegated)
		}
	}
	return found, nil
}

// with adds a statement's effect.
func (e effects) with(deny, named, delegated bool) effects {
	if deny {
		return effects{e.allows, e.delegates, e.denies || named || delegated}
	}
	return effects{e.allows || named, e.delegates || delegated, e.denies}
}

// applies says whether a statement is about the call, whoever makes it.
func (c Call) applies(s map[string]any) (bool, error) {
	for name := range s {
		switch name {
		case "Sid", "Effect", "Principal", "Action", "NotAction", "Resource", "Condition":
		default:
			return false, fmt.Errorf("%s of %v is unknown", name, s["Sid"])
		}
	}
	holds, err := c.holds(cfn.At(s, "Condition"))
	if err != nil || !holds {
		return false, err
	}
	action := like(s["Action"], strings.ToLower(c.Action), strings.ToLower)
	if s["NotAction"] != nil {
		action = !like(s["NotAction"], strings.ToLower(c.Action), strings.ToLower)
	}
	return action && like(s["Resource"], c.Resource, same), nil
}

// named says whether a statement of a resource's policy names the principal, or its account.
func (c Call) named(principal any) (named, delegated bool, err error) {
	if principal == "*" {
		return true, false, nil
	}
	kinds, _ := principal.(map[string]any)
	for kind, values := range kinds {
		for _, value := range cfn.List(values) {
			text := fmt.Sprint(value)
			switch kind {
			case "AWS":
				named = named || text == "*" || text == c.Principal
				delegated = delegated || c.of(text)
			case "Service":
				named = named || text == c.Principal
			default:
				return false, false, fmt.Errorf("principals of the kind %s are unknown", kind)
			}
		}
	}
	return named, delegated, nil
}

// isKey finds the ARNs of keys.
var isKey = regexp.MustCompile(`^arn:[^:]*:kms:.*:key/`)

func same(s string) string { return s }

// like says whether a text fits one of the patterns.
func like(patterns any, text string, fold func(string) string) bool {
	for _, pattern := range cfn.List(patterns) {
		if fits(fold(fmt.Sprint(pattern)), text) {
			return true
		}
	}
	return false
}

// fits says whether a text fits a pattern, in which a star stands for any text, and ? for a character.
func fits(pattern, text string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if len(text) < len(before) {
		return false
	}
	for i := range len(before) {
		if before[i] != text[i] && before[i] != '?' {
			return false
		}
	}
	text = text[len(before):]
	if !star {
		return text == ""
	}
	for from := range len(text) + 1 {
		if fits(after, text[from:]) {
			return true
		}
	}
	return false
}
