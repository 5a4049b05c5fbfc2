package tokens

import (
	"context"
	"crypto/rand"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/recent"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/token"
)

// Asker asks a token server (Client).
type Asker interface {
	Ask(ctx context.Context, g token.Grant) (token.Access, delivery.Reason)
}

// Shared keeps what processes share of tokens (dynamo.Tokens).
type Shared interface {
	Claim(ctx context.Context, key dynamo.EndpointKey, claim token.Kept, now time.Time) (
		stored token.Kept, claimed bool, err error)
	Store(ctx context.Context, key dynamo.EndpointKey, next token.Kept, now time.Time) error
}

// Keeper has the tokens of endpoints: from its memory, from another process, or from their server. All fields are
// required. It is safe for concurrent use.
type Keeper struct {
	Server   Asker
	Shared   Shared
	Patience time.Duration // with a token server; token.Patience, or the whole time of an attempt if that is shorter
	Now      func() time.Time

	asking singleflight.Group
	known  recent.Memory[dynamo.EndpointKey, known]
}

// known is what a process knows of an endpoint's token.
type known struct {
	token.Kept

	access string // "" where there is none
}

// Wanted is an endpoint's token, and how to get it.
type Wanted struct {
	dynamo.EndpointKey
	token.Grant

	Key token.Key
}

// Token returns an endpoint's token. Without one it returns the reason, or the error of a call to AWS. It takes no
// longer than ctx and the Patience allow. The caller asks ctx whether the deadline was its own.
func (k *Keeper) Token(ctx context.Context, w Wanted) (access string, why delivery.Reason, err error) {
	if last, found := k.known.Get(w.EndpointKey); found && last.Stands(w.Key.Of(), k.Now()) {
		return last.access, last.Reason, nil
	}
	ctx, cancel := context.WithTimeout(ctx, k.Patience)
	defer cancel()
	got, err, _ := k.asking.Do(w.EndpointID+w.Key.Of(), func() (any, error) { return k.find(ctx, w) })
	last, _ := got.(known)
	return last.access, last.Reason, err
}

// unreachable is the end of the time for a token. It is not remembered.
var unreachable = known{Kept: token.Kept{Reason: delivery.ReasonTokenUnreachable}}

// again is how long a process waits for the answer that another one waits for, before it looks again. After that it
// waits half as long again each time: hundreds of processes may wait, and all of them look by writes to one item. It
// looks a last time just before its own time ends, since the answer of a slow server comes late.
const (
	again    = 400 * time.Millisecond
	lastLook = 200 * time.Millisecond
)

// find asks the token server, unless another process has an answer, or is about to get one.
func (k *Keeper) find(ctx context.Context, w Wanted) (known, error) {
	end, _ := ctx.Deadline() // of the Patience, if there is no earlier one
	last := false
	for pause := again; ; pause += pause / 2 {
		got, over, err := k.look(ctx, w, last)
		left := time.Until(end) - lastLook
		switch {
		case over:
			return got, err
		case last && ctx.Err() != nil:
			return unreachable, nil //nolint:nilerr // the wait is over, whatever the table would have answered
		case err != nil:
			return got, err
		case left <= 0:
			return unreachable, nil
		}
		last = left <= pause
		select {
		case <-ctx.Done():
			return unreachable, nil
		case <-time.After(min(pause, left)):
		}
	}
}

// look takes what is known, or asks the token server. It is not over while another process asks. A process asks nothing
// at its last look, since it has no time for the answer, and its claim would keep others from asking.
func (k *Keeper) look(ctx context.Context, w Wanted, last bool) (got known, over bool, err error) {
	now := k.Now()
	if got, found := k.known.Get(w.EndpointKey); found && got.Stands(w.Key.Of(), now) {
		return got, true, nil // of the call before
	}
	claim := token.Kept{
		Of: w.Key.Of(), Claim: rand.Text(), Asked: now.Round(0), // the monotonic clock stops while Lambda freezes
		Until: now.Add(k.Patience + time.Second).UnixMilli(),
	}
	if last {
		claim.Until = now.UnixMilli()
	}
	stored, claimed, err := k.Shared.Claim(ctx, w.EndpointKey, claim, now)
	switch {
	case err != nil:
		return known{}, false, err
	case claimed && last:
		return unreachable, true, nil
	case claimed:
		return k.ask(ctx, w, claim), true, nil
	case stored.Reason != "", len(stored.Sealed) > 0:
		got, err = k.learn(w, stored)
		return got, true, err
	}
	return known{}, false, nil
}

// learn takes what another process has stored. A seal that does not open is nobody's token: none is used before its
// time is over.
func (k *Keeper) learn(w Wanted, stored token.Kept) (last known, err error) {
	last = known{Kept: stored}
	if stored.Reason == "" {
		last.access, err = w.Key.Open(stored.Sealed)
	}
	if err != nil {
		return known{}, err
	}
	k.known.Put(w.EndpointKey, last)
	return last, nil
}

// ask asks the token server, and tells the other processes. Where that fails, the claim ends soon, and another process
// asks as well.
func (k *Keeper) ask(ctx context.Context, w Wanted, claim token.Kept) known {
	access, why := k.Server.Ask(ctx, w.Grant)
	if k.cutShort(ctx, claim) && why != "" {
		return unreachable
	}
	last := known{Kept: claim, access: access.Token}
	last.Reason = why
	life := token.Pause
	if why == "" {
		life, last.Sealed = access.Life, w.Key.Seal(access.Token)
	}
	now := k.Now()
	last.Until = now.Add(life).UnixMilli()
	k.known.Put(w.EndpointKey, last)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
	defer cancel()
	_ = k.Shared.Store(after, w.EndpointKey, last.Kept, now) // the token is here, and it is no worse for others than none
	return last
}

// cutShort reports whether the caller's deadline came before the token server's time was over.
func (k *Keeper) cutShort(ctx context.Context, claim token.Kept) bool {
	return ctx.Err() != nil && k.Now().Sub(claim.Asked) < k.Patience-again
}

// storing bounds the time for telling others.
const storing = 500 * time.Millisecond

// Refused ends a token that a receiver has answered with 401. One that has just come goes on for the rest of its first
// seconds: another one would hardly do better, and a receiver must not decide how often a token server is asked.
func (k *Keeper) Refused(ctx context.Context, key dynamo.EndpointKey, access string) {
	last, found := k.known.Get(key)
	now := k.Now()
	if !found || last.access != access || now.Sub(last.Asked) < token.Pause {
		return
	}
	k.known.Delete(key)
	last.Until, last.Sealed = now.UnixMilli(), nil
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
	defer cancel()
	_ = k.Shared.Store(after, key, last.Kept, now) // else the next 401 says it again
}
