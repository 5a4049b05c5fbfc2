package deadletter

import (
	"context"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// Keys makes and unwraps data keys under an encryption context.
type Keys interface {
	Generate(ctx context.Context, encryption map[string]string) (plain, wrapped []byte, err error)
	Unwrap(ctx context.Context, encryption map[string]string, wrapped []byte) (plain []byte, err error)
}

// Vault seals and opens the parts of records. Sealing needs only Keys.Generate, opening only
// Keys.Unwrap: the function that seals can be refused the right to read.
type Vault struct {
	Keys   Keys
	Random io.Reader // crypto/rand.Reader
}

// Death is what is sealed when a delivery dies for the first time.
type Death struct {
	Body       []byte
	Attributes []Attribute // of an unreadable message only
	Entry      Entry
}

// SealDeath seals a first death under one new data key.
func (v Vault) SealDeath(ctx context.Context, b Binding, d Death) (Sealed, error) {
	key, err := v.generate(ctx, b)
	if err != nil {
		return Sealed{}, err
	}
	defer clear(key.Plain)
	var s Sealed
	if s.Body, err = seal(key, b, partBody, d.Body, v.Random); err != nil {
		return Sealed{}, err
	}
	if len(d.Attributes) > 0 {
		if s.Attributes, err = seal(key, b, partAttributes, encodeAttributes(d.Attributes), v.Random); err != nil {
			return Sealed{}, err
		}
	}
	entry, err := v.sealEntry(key, b, d.Entry)
	s.History = []SealedEntry{entry}
	return s, err
}

// SealEntry seals one more death of a record under a data key of its own.
func (v Vault) SealEntry(ctx context.Context, b Binding, e Entry) (SealedEntry, error) {
	key, err := v.generate(ctx, b)
	if err != nil {
		return SealedEntry{}, err
	}
	defer clear(key.Plain)
	return v.sealEntry(key, b, e)
}

func (v Vault) sealEntry(key dataKey, b Binding, e Entry) (SealedEntry, error) {
	e.DiedAt = e.DiedAt.UTC()
	plain, err := json.Marshal(e)
	if err != nil {
		return SealedEntry{}, fmt.Errorf("encoding history entry: %w", err)
	}
	sealed, err := seal(key, b, historyPart(e.Replay), plain, v.Random)
	return SealedEntry{Replay: e.Replay, Sealed: sealed}, err
}

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

// OpenBody opens a record's body alone.
func (v Vault) OpenBody(ctx context.Context, r Record) ([]byte, error) {
	o := v.opener(r.Binding())
	defer o.forget()
	return o.open(ctx, partBody, r.Sealed.Body)
}

// OpenAll opens everything sealed of a record: one unwrap per death.
func (v Vault) OpenAll(ctx context.Context, r Record) (Opened, error) {
	o := v.opener(r.Binding())
	defer o.forget()
	var all Opened
	var err error
	if all.Body, err = o.open(ctx, partBody, r.Sealed.Body); err != nil {
		return Opened{}, fmt.Errorf("opening body: %w", err)
	}
	if len(r.Sealed.Attributes) > 0 {
		plain, err := o.open(ctx, partAttributes, r.Sealed.Attributes)
		if err != nil {
			return Opened{}, fmt.Errorf("opening attributes: %w", err)
		}
		if all.Attributes, err = decodeAttributes(plain); err != nil {
			return Opened{}, fmt.Errorf("decoding attributes: %w", err)
		}
	}
	for _, sealed := range r.Sealed.History {
		plain, err := o.open(ctx, historyPart(sealed.Replay), sealed.Sealed)
		if err != nil {
			return Opened{}, fmt.Errorf("opening history entry %d: %w", sealed.Replay, err)
		}
		var e Entry
		if err := json.Unmarshal(plain, &e); err != nil {
			return Opened{}, fmt.Errorf("decoding history entry %d: %w", sealed.Replay, err)
		}
		all.History = append(all.History, e)
	}
	return all, nil
}

// opener opens parts of one record and unwraps each data key once.
type opener struct {
	keys  Keys
	bound Binding
	plain map[string][]byte // by wrapped key
}

func (v Vault) opener(b Binding) *opener {
	return &opener{keys: v.Keys, bound: b, plain: map[string][]byte{}}
}

func (o *opener) open(ctx context.Context, p part, sealed []byte) ([]byte, error) {
	wrapped, err := wrappedKey(sealed)
	if err != nil {
		return nil, err
	}
	key, ok := o.plain[string(wrapped)]
	if !ok {
		if key, err = o.keys.Unwrap(ctx, o.bound.Context(), wrapped); err != nil {
			return nil, fmt.Errorf("unwrapping data key: %w", err)
		}
		o.plain[string(wrapped)] = key
	}
	return open(key, o.bound, p, sealed)
}

func (o *opener) forget() {
	for _, key := range o.plain {
		clear(key)
	}
}
