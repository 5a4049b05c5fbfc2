package invoke

import (
	"context"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/herald-webhooks/herald/internal/operators/api"
)

// ForGood is the alias of a function by which alone it deletes anything for good. IAM sees the function and its alias,
// and no request. A role that may invoke the function alone can send again, and stop.
const ForGood = "delete"

// ByAlias refuses an invocation by another name than the alias.
func ByAlias(ctx context.Context) error {
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		// arn:aws:lambda:region:account:function:name:alias
		if parts := strings.Split(invocation.InvokedFunctionArn, ":"); len(parts) == 8 && parts[7] == ForGood {
			return nil
		}
	}
	const reason = "what deletes for good is asked of the function's alias " + ForGood + ": put :" + ForGood +
		" behind its name"
	return Refuse(api.CodeAliasRequired, "action", reason)
}
