package model

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/token"
)

// Tokens returns the store as the process calls it.
func (p *Process) Tokens() Tokens { return Tokens{p} }

// Tokens keeps the access tokens of endpoints (dynamo.Tokens).
type Tokens struct{ *Process }

const keepTokens = "Keep tokens"

// Claim stores a claim, unless what is stored stands.
func (s Tokens) Claim(
	ctx context.Context, key dynamo.EndpointKey, claim token.Kept, now time.Time,
) (stored token.Kept, claimed bool, err error) {
	claimed, err = asked(ctx, s.Process, keepTokens, key.EndpointID, func() bool {
		stored = s.model.Tokens[key.EndpointID]
		if stored.Stands(claim.Of, now) && stored.Claim != claim.Claim {
			return false
		}
		stored, s.model.Tokens[key.EndpointID] = token.Kept{}, storedToken(claim)
		return true
	})
	return stored, claimed, err
}

// Store stores what became of a claim.
func (s Tokens) Store(ctx context.Context, key dynamo.EndpointKey, next token.Kept, _ time.Time) error {
	next = storedToken(next)
	_, err := asked(ctx, s.Process, keepTokens, key.EndpointID, func() bool {
		if s.model.Tokens[key.EndpointID].Claim != next.Claim {
			return false
		}
		s.model.Tokens[key.EndpointID] = next
		return true
	})
	return err
}

// storedToken has the time as the table keeps it.
func storedToken(k token.Kept) token.Kept {
	k.Asked = k.Asked.UTC().Truncate(time.Millisecond)
	return k
}

// TokenServer is what token servers do with requests for tokens.
type TokenServer func(g token.Grant) TokenAnswer

// TokenAnswer is a token, or the reason why there is none, after so long.
type TokenAnswer struct {
	token.Access

	Reason delivery.Reason
	Took   time.Duration
}

// Asker asks token servers as the process does (tokens.Client).
type Asker struct{ *Process }

// Asker returns it.
func (p *Process) Asker() Asker { return Asker{p} }

// Ask makes one request.
func (a Asker) Ask(ctx context.Context, g token.Grant) (token.Access, delivery.Reason) {
	var got TokenAnswer
	err := a.one(ctx, "Token", g.ClientID, func() { got = a.model.TokenServer(g) })
	if err != nil || !wait(ctx, got.Took) {
		return token.Access{}, delivery.ReasonTokenUnreachable
	}
	return got.Access, got.Reason
}
