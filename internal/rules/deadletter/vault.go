package deadletter

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/herald-webhooks/herald/internal/rules/trace"
)

// Keys makes and unwraps data keys under an encryption context. The error of Unwrap wraps ErrUnopenable
// where the key was not wrapped under this context.
type Keys interface {
	Generate(ctx context.Context, encryption map[string]string) (plain, wrapped []byte, err error)
	Unwrap(ctx context.Context, encryption map[string]string, wrapped []byte) (plain []byte, err error)
}

// Vault seals and opens the parts of records. Sealing needs only Keys.Generate, opening only
// Keys.Unwrap: the function that seals can be refused the right to read.
type Vault struct {
	Keys Keys
}

// Death is the plaintext to seal when a delivery dies for the first time.
type Death struct {
	Body       []byte
	Attributes []Attribute // of an unreadable message only
	Entry      Entry
}

// SealDeath seals a first death of r under one new data key.
func (v Vault) SealDeath(ctx context.Context, r Record, d Death) (Sealed, error) {
	b := r.Binding(1, d.Entry.Reason)
	key, err := v.generate(ctx, b)
	if err != nil {
		return Sealed{}, err
	}
	defer clear(key.Plain)
	var s Sealed
	s.Body, err = seal(key, b, partBody, d.Body)
	if err != nil {
		return Sealed{}, err
	}
	if len(d.Attributes) > 0 {
		s.Attributes, err = seal(key, b, partAttributes, encodeAttributes(d.Attributes))
		if err != nil {
			return Sealed{}, err
		}
	}
	entry, err := v.sealEntry(key, b, d.Entry)
	s.History = []SealedEntry{entry}
	return s, err
}

// SealEntry seals the n-th death of r under a new data key.
func (v Vault) SealEntry(ctx context.Context, r Record, n int, e Entry) (SealedEntry, error) {
	b := r.Binding(n, e.Reason)
	key, err := v.generate(ctx, b)
	if err != nil {
		return SealedEntry{}, err
	}
	defer clear(key.Plain)
	return v.sealEntry(key, b, e)
}

// sealEntry seals the entry of one death. Reason and replay stay readable with it, for lists that open nothing.
func (v Vault) sealEntry(key dataKey, b Binding, e Entry) (SealedEntry, error) {
	e.DiedAt = e.DiedAt.UTC()
	plain, err := json.Marshal(e)
	if err != nil {
		return SealedEntry{}, fmt.Errorf("encoding history entry: %w", err)
	}
	sealed, err := seal(key, b, historyPart(e.Replay), plain)
	return SealedEntry{Replay: e.Replay, Reason: e.Reason, Sealed: sealed}, err
}

// generate asks KMS for a new data key. The caller clears its plain form as soon as all is sealed.
func (v Vault) generate(ctx context.Context, b Binding) (dataKey, error) {
	plain, wrapped, err := v.Keys.Generate(ctx, b.Context())
	if err != nil {
		return dataKey{}, fmt.Errorf("generating data key: %w", err)
	}
	return dataKey{Plain: plain, Wrapped: wrapped}, nil
}

// Opened is a record in clear.
type Opened struct {
	Body       []byte
	Attributes []Attribute
	History    []Entry // in the order of the deaths
}

// Trace is the publisher's trace, by the latest death that was opened.
func (o Opened) Trace() trace.Context {
	if len(o.History) == 0 {
		return trace.Context{}
	}
	return trace.ParseXRay(o.History[len(o.History)-1].Trace)
}

// OpenLast opens the parts of a record that a replay needs: its body and its latest death. If both open, none of the
// fields that their seals bind was changed.
func (v Vault) OpenLast(ctx context.Context, r Record) (Opened, error) {
	o := v.opener(r)
	defer o.forget()
	last, err := o.entry(ctx, len(r.Sealed.History))
	if err != nil {
		return Opened{}, err
	}
	body, err := o.first(ctx, partBody, r.Sealed.Body)
	if err != nil {
		return Opened{}, err
	}
	return Opened{Body: body, History: []Entry{last}}, nil
}

// OpenAll opens everything sealed of a record: one unwrap per death.
func (v Vault) OpenAll(ctx context.Context, r Record) (Opened, error) {
	o := v.opener(r)
	defer o.forget()
	all := Opened{History: make([]Entry, max(1, len(r.Sealed.History)))}
	var err error
	for i := range all.History {
		all.History[i], err = o.entry(ctx, i+1)
		if err != nil {
			return Opened{}, err
		}
	}
	all.Body, err = o.first(ctx, partBody, r.Sealed.Body)
	if err != nil {
		return Opened{}, err
	}
	if len(r.Sealed.Attributes) == 0 {
		return all, nil
	}
	plain, err := o.first(ctx, partAttributes, r.Sealed.Attributes)
	if err == nil {
		all.Attributes, err = decodeAttributes(plain)
	}
	if err != nil {
		return Opened{}, err
	}
	return all, nil
}

// opener opens parts of one record and unwraps each data key once.
type opener struct {
	keys   Keys
	record Record
	plain  map[string][]byte // by wrapped key
}

// opener has no keys yet: a record that is not looked into costs no call of KMS.
func (v Vault) opener(r Record) *opener {
	return &opener{keys: v.Keys, record: r, plain: map[string][]byte{}}
}

// entry opens the entry of the n-th death. The latest has reason and replay of the record itself.
func (o *opener) entry(ctx context.Context, n int) (e Entry, err error) {
	history := o.record.Sealed.History
	if n < 1 || n > len(history) {
		return Entry{}, fmt.Errorf("%w: there is no history", ErrUnopenable)
	}
	sealed := history[n-1]
	if n == len(history) {
		sealed.Reason, sealed.Replay = o.record.Reason, o.record.Replay
	}
	plain, err := o.open(ctx, o.record.Binding(n, sealed.Reason), historyPart(sealed.Replay), sealed.Sealed)
	if err != nil {
		return Entry{}, err
	}
	if err := json.Unmarshal(plain, &e); err != nil {
		return Entry{}, fmt.Errorf("decoding the entry of death %d: %w", n, err)
	}
	return e, nil
}

// first opens a part that was sealed at the first death.
func (o *opener) first(ctx context.Context, p part, sealed []byte) ([]byte, error) {
	reason := o.record.Reason
	if history := o.record.Sealed.History; len(history) > 1 {
		reason = history[0].Reason
	}
	return o.open(ctx, o.record.Binding(1, reason), p, sealed)
}

// open opens one part. Parts that were sealed at one death share a data key, which is unwrapped once.
func (o *opener) open(ctx context.Context, b Binding, p part, sealed []byte) ([]byte, error) {
	wrapped, err := wrappedKey(sealed)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", p, err)
	}
	key, ok := o.plain[string(wrapped)]
	if !ok {
		key, err = o.keys.Unwrap(ctx, b.Context(), wrapped)
		if err != nil {
			return nil, fmt.Errorf("unwrapping data key: %w", err)
		}
		o.plain[string(wrapped)] = key
	}
	plain, err := open(key, b, p, sealed)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", p, err)
	}
	return plain, nil
}

// forget clears the data keys in memory.
func (o *opener) forget() {
	for _, key := range o.plain {
		clear(key)
	}
}
