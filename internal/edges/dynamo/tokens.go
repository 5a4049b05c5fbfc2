package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/herald-webhooks/herald/internal/rules/token"
)

// Tokens keeps the access tokens of endpoints, sealed, in the table EndpointHealth, so that all processes together ask
// a token server no more often than one. DynamoDB deletes the item an hour after the token has ended.
type Tokens struct{ table }

// NewTokens returns the store on a table.
func NewTokens(client *dynamodb.Client, name string) *Tokens { return &Tokens{table{client, name}} }

// tokenName is the range key of these items. The hash key is that of an endpoint's slots, which versions that know no
// tokens pass over where they read the whole table.
const tokenName = "token"

func tokenKey(key EndpointKey) attributes {
	return attributes{"scope": str(rateScope + key.EndpointID), "name": str(tokenName)}
}

// Claim stores that the caller asks for the token, unless what is stored of the same credentials still stands: then it
// returns that. Two calls at once never both claim.
func (s *Tokens) Claim(
	ctx context.Context, key EndpointKey, claim token.Kept, now time.Time,
) (stored token.Kept, claimed bool, err error) {
	item, claimed, err := s.updateItem(ctx, tokenKey(key), s.set(key, claim, now,
		"attribute_not_exists(#token) OR #token.#until <= :now OR #token.#of <> :of",
		given{":now": now.UnixMilli(), ":of": claim.Of}))
	if err != nil || claimed {
		return token.Kept{}, claimed, err
	}
	row, err := decode[tokenRow](item)
	if row.Token.Claim == claim.Claim { // the call was repeated, since its answer was lost
		return token.Kept{}, err == nil, err
	}
	return row.Token, false, err
}

// Store stores what became of a claim. Another claim that has been made since stays.
func (s *Tokens) Store(ctx context.Context, key EndpointKey, next token.Kept, now time.Time) error {
	_, _, err := s.updateItem(ctx, tokenKey(key), s.set(key, next, now,
		"#token.#claim = :claim", given{":claim": next.Claim}))
	return err
}

// tokenRow is an item.
type tokenRow struct {
	Token token.Kept `dynamodbav:"token"`
}

func (s *Tokens) set(key EndpointKey, kept token.Kept, now time.Time, condition string, values given) update {
	values[":token"], values[":tenant"] = kept, key.TenantID
	values[":expires"] = max(now.UnixMilli(), kept.Until)/1000 + int64(keptFor.Seconds())
	return update{
		expression: "SET #token = :token, tenant_id = :tenant, expires_at = :expires",
		condition:  condition, values: values,
	}
}
