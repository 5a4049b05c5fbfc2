package invoke

import (
	"context"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// The aliases of functions. IAM sees the function and its alias, and no request, so what is asked of an alias alone is
// a right of its own.
const (
	// ForGood is the alias by which alone a function deletes anything for good. A role that may invoke the function alone
	// can send again, and stop.
	ForGood = "delete"

	// Scan is the alias by which alone a function reads the endpoints of all tenants. A role that may invoke the function
	// alone sees those in trouble, and those of a tenant that it can name.
	Scan = "scan"

	// Revoke is the alias by which a function ends keys and makes none. A role that may invoke the alias alone can lock a
	// tenant out, and act as nobody.
	Revoke = "revoke"
)

// ByAlias refuses an act that would delete for good, unless the function was invoked by the alias ForGood.
func ByAlias(ctx context.Context) error { return byAlias(ctx, ForGood, "what deletes for good") }

// ByScan refuses to read the endpoints of all tenants, unless the function was invoked by the alias Scan.
func ByScan(ctx context.Context) error {
	return byAlias(ctx, Scan, "what reads the endpoints of all tenants")
}

// NotBy has actions refuse to be asked of an alias: a role that may invoke the alias alone can do what that is for, and
// nothing else.
func NotBy(alias string, entries ...Entry) []Entry {
	for n, e := range entries {
		entries[n].action = func(ctx context.Context, call *Call, payload []byte) (any, error) {
			if aliasOf(ctx) == alias {
				return nil, Refuse(api.CodeUnknownAction, "action", "ask the function itself, without :"+alias)
			}
			return e.action(ctx, call, payload)
		}
	}
	return entries
}

func byAlias(ctx context.Context, alias, what string) error {
	if aliasOf(ctx) == alias {
		return nil
	}
	reason := what + " is asked of the function's alias " + alias + ": put :" + alias + " behind its name"
	return Refuse(api.CodeAliasRequired, "action", reason)
}

// aliasOf is the alias by which the function was invoked, "" where it was invoked by its name alone.
func aliasOf(ctx context.Context) string {
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		// arn:aws:lambda:region:account:function:name:alias
		if parts := strings.Split(invocation.InvokedFunctionArn, ":"); len(parts) == 8 {
			return parts[7]
		}
	}
	return ""
}
