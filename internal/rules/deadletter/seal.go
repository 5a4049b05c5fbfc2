package deadletter

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

// Binding is everything that a seal is bound to besides its part. Type, reason and number describe the death at which
// the part was sealed.
type Binding struct {
	DeliveryID string
	TenantID   string // "" when a message could not be read
	EndpointID string // likewise
	EventType  string // likewise
	Reason     delivery.Reason
	Deaths     int // history entries of the record, this death's included
}

// purpose is the encryption context's "purpose"; the roles' KMS statements are conditioned on it.
const purpose = "dead-letter"

// Context is the KMS encryption context of the record's data keys. It shows in CloudTrail in
// clear: ids only.
func (b Binding) Context() map[string]string {
	c := map[string]string{"purpose": purpose, "delivery_id": b.DeliveryID}
	if b.TenantID != "" {
		c["tenant_id"] = b.TenantID
	}
	if b.EndpointID != "" {
		c["endpoint_id"] = b.EndpointID
	}
	return c
}

// part names which part of a record is sealed.
type part string

// The parts. A history entry's part is made by historyPart.
const (
	partBody       part = "body"
	partAttributes part = "attributes"
)

// historyPart is the part of the death of the given replay.
func historyPart(replay int) part { return part("history/" + strconv.Itoa(replay)) }

// dataKey is a 256-bit key, in plain and as KMS wrapped it.
type dataKey struct{ Plain, Wrapped []byte }

// The sealed format, version 1:
//
//	offset  size
//	0       1     version, 1
//	1       2     n, length of the wrapped data key, big endian
//	3       n     wrapped data key (KMS ciphertext blob)
//	3+n     12    nonce
//	15+n    …     AES-256-GCM ciphertext, its last 16 bytes the tag
//
// Additional data: "herald/dead-letter", everything before the nonce, then delivery id, tenant id,
// endpoint id, event type, reason, number of deaths and part, each preceded by its length in four
// bytes, big endian.
const (
	version1   = 1
	headerSize = 3
	nonceSize  = 12
	tagSize    = 16
	keySize    = 32
	maxWrapped = 6144 // bytes that KMS takes; it calls more a fault of the request, and not of the ciphertext
	aadLabel   = "herald/dead-letter"
)

// ErrUnopenable is wrapped by every error of a part that will never open: not this format, cut off,
// changed, or sealed for another record. It is an incident; asking again does not help.
var ErrUnopenable = errors.New("sealed part does not open")

// seal encrypts plain for one part of one record, under a random nonce.
func seal(key dataKey, b Binding, p part, plain []byte) ([]byte, error) {
	if len(key.Wrapped) == 0 || len(key.Wrapped) > maxWrapped {
		return nil, fmt.Errorf("sealing: wrapped key of %d bytes", len(key.Wrapped))
	}
	aead, err := newAEAD(key.Plain)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	start := headerSize + len(key.Wrapped)
	// ARITHMETIC_BASE: another capacity is only a copy more, or some bytes.
	out := make([]byte, start, start+nonceSize+len(plain)+tagSize)
	out[0] = version1
	binary.BigEndian.PutUint16(out[1:], uint16(len(key.Wrapped))) //nolint:gosec // checked above
	copy(out[headerSize:], key.Wrapped)
	return aead.Seal(out, nil, plain, additionalData(out, b, p)), nil //nolint:gosec // newAEAD's nonce is random
}

// wrappedKey returns the wrapped data key of a sealed part. It aliases sealed.
func wrappedKey(sealed []byte) ([]byte, error) {
	// CONDITIONALS_BOUNDARY: three bytes hold the length of a key and no key, and the next check refuses them.
	if len(sealed) < headerSize || sealed[0] != version1 {
		return nil, ErrUnopenable
	}
	n := int(binary.BigEndian.Uint16(sealed[1:]))
	if n == 0 || n > maxWrapped || len(sealed) < headerSize+n+nonceSize+tagSize {
		return nil, ErrUnopenable
	}
	return sealed[headerSize : headerSize+n], nil
}

// open decrypts a seal of the same binding and part, given the unwrapped key.
func open(plainKey []byte, b Binding, p part, sealed []byte) ([]byte, error) {
	wrapped, err := wrappedKey(sealed)
	if err != nil {
		return nil, err
	}
	aead, err := newAEAD(plainKey)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnopenable, err)
	}
	start := headerSize + len(wrapped)
	plain, err := aead.Open(nil, nil, sealed[start:], additionalData(sealed[:start], b, p))
	if err != nil {
		return nil, ErrUnopenable
	}
	return plain, nil
}

// newAEAD is AES-256-GCM under a data key, which writes a random nonce in front of each ciphertext and reads it from
// there: FIPS 140-3 allows no nonce of the caller's. A key of another size comes from no call of Herald's to KMS.
func newAEAD(key []byte) (cipher.AEAD, error) {
	if len(key) != keySize {
		return nil, fmt.Errorf("data key of %d bytes", len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("data key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("data key: %w", err)
	}
	return aead, nil
}

// additionalData binds a seal to its record: no part of it opens under another id, tenant, reason or number of deaths.
// Each text has its length in front, so that two texts cannot be cut in another place and give the same bytes.
func additionalData(header []byte, b Binding, p part) []byte {
	aad := append([]byte(aadLabel), header...)
	deaths := strconv.Itoa(b.Deaths)
	for _, s := range []string{
		b.DeliveryID, b.TenantID, b.EndpointID, b.EventType, string(b.Reason), deaths, string(p),
	} {
		aad = appendSized(aad, s)
	}
	return aad
}

// appendSized appends a text after its length of four bytes.
func appendSized(to []byte, s string) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(s))) //nolint:gosec // ids and SQS attributes: far below 4 GiB
	return append(to, s...)
}
