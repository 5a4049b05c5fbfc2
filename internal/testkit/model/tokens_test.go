package model

import (
	"context"
	"time"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/rules/circuit"
	"github.com/herald-webhooks/herald/internal/rules/token"
	"github.com/herald-webhooks/herald/internal/testkit/storetest"
)

// tokensLike is a store of tokens that breaks one promise.
type tokensLike struct {
	storetest.Tokens
	m *Model

	all, ends, waits, shares, overwrites, forgets, lists bool
}

func (s tokensLike) Claim(
	ctx context.Context, key dynamo.EndpointKey, claim token.Kept, now time.Time,
) (token.Kept, bool, error) {
	switch stored := s.m.Tokens[key.EndpointID]; {
	case s.all:
		return token.Kept{}, true, nil
	case s.ends:
		now = now.Add(time.Millisecond)
	case s.waits && stored.Of != "":
		return stored, false, nil
	case s.shares:
		key.EndpointID = "webhook_1"
	case s.forgets && stored.Claim == claim.Claim:
		return stored, false, nil
	case s.lists:
		s.m.Circuits[key.EndpointID] = circuit.Item{EndpointID: key.EndpointID}
	}
	return s.Tokens.Claim(ctx, key, claim, now)
}

func (s tokensLike) Store(ctx context.Context, key dynamo.EndpointKey, next token.Kept, now time.Time) error {
	if s.overwrites {
		s.m.Tokens[key.EndpointID] = next
	}
	return s.Tokens.Store(ctx, key, next, now)
}

func likeTokens(s tokensLike) mutant {
	return func(b storetest.Backend, m *Model) storetest.Backend {
		s.m, s.Tokens = m, b.Tokens
		b.Tokens = s
		return b
	}
}

var tokenMutants = map[string]mutant{
	"one of many claims at once is made":                             likeTokens(tokensLike{all: true}),
	"a claim and its result stand until their time":                  likeTokens(tokensLike{ends: true}),
	"other credentials do not wait":                                  likeTokens(tokensLike{waits: true}),
	"endpoints share no tokens":                                      likeTokens(tokensLike{shares: true}),
	"the result of a claim that another one has followed is dropped": likeTokens(tokensLike{overwrites: true}),
	"a lost answer leaves the claim with its caller":                 likeTokens(tokensLike{forgets: true}),
	"tokens are no trouble":                                          likeTokens(tokensLike{lists: true}),
}
