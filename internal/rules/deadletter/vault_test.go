package deadletter

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/fips140"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

type madeKey struct {
	plain      []byte
	encryption map[string]string
}

// fakeKeys wraps keys by number and checks the encryption context as KMS does.
type fakeKeys struct {
	made      []madeKey
	handedOut [][]byte // plaintext keys, by the array that the vault was given
	unwraps   int
	err       error
}

func (k *fakeKeys) Generate(_ context.Context, encryption map[string]string) (plain, wrapped []byte, err error) {
	if k.err != nil {
		return nil, nil, k.err
	}
	plain = make([]byte, keySize)
	if _, err := rand.Read(plain); err != nil {
		return nil, nil, err
	}
	k.made = append(k.made, madeKey{bytes.Clone(plain), encryption})
	k.handedOut = append(k.handedOut, plain)
	return plain, []byte("key " + strconv.Itoa(len(k.made)-1)), nil
}

func (k *fakeKeys) Unwrap(_ context.Context, encryption map[string]string, wrapped []byte) ([]byte, error) {
	if k.err != nil {
		return nil, k.err
	}
	k.unwraps++
	i, err := strconv.Atoi(string(wrapped[len("key "):]))
	if err != nil || !maps.Equal(k.made[i].encryption, encryption) {
		return nil, fmt.Errorf("%w: InvalidCiphertextException", ErrUnopenable)
	}
	plain := bytes.Clone(k.made[i].plain)
	k.handedOut = append(k.handedOut, plain)
	return plain, nil
}

func entry(replay int) Entry {
	return Entry{
		DiedAt: time.Date(2026, 1, 2, 3, 4, 5+replay, 0, time.UTC), Reason: delivery.ReasonHTTP5xx,
		Attempts: 10, LastStatus: 503, Replay: replay, MessageID: "m" + strconv.Itoa(replay),
	}
}

func newVault() (Vault, *fakeKeys) {
	keys := &fakeKeys{}
	return Vault{Keys: keys}, keys
}

var testDeath = Death{Body: []byte("body"), Attributes: []Attribute{{"version", "String", "7"}}, Entry: entry(0)}

// mustSealDeaths is the record after its first death and further ones.
func mustSealDeaths(t *testing.T, v Vault, r Record, d Death, further ...Entry) Record {
	t.Helper()
	sealed, err := v.SealDeath(t.Context(), r, d)
	if err != nil {
		t.Fatal(err)
	}
	r.Reason, r.Replay, r.Sealed = d.Entry.Reason, d.Entry.Replay, sealed
	for i, e := range further {
		next, err := v.SealEntry(t.Context(), r, i+2, e)
		if err != nil {
			t.Fatal(err)
		}
		r.Reason, r.Replay, r.Sealed.History = e.Reason, e.Replay, append(r.Sealed.History, next)
	}
	return r
}

func TestVault_OpenAll_returnsARecordWithItsWholeHistory(t *testing.T) {
	v, keys := newVault()
	timeout := entry(3) // the second replay could not be sent
	timeout.Reason = delivery.ReasonTimeout
	d := testDeath
	d.Attributes = []Attribute{{"version", "String", "7"}, {"trace", "Binary", "\x00\xff\""}, {"z", "String", ""}}
	got, err := v.OpenAll(t.Context(), mustSealDeaths(t, v, testRecord, d, entry(1), timeout))
	if err != nil {
		t.Fatal(err)
	}
	want := Opened{
		Body: []byte("body"), History: []Entry{entry(0), entry(1), timeout},
		Attributes: []Attribute{{"trace", "Binary", "\x00\xff\""}, {"version", "String", "7"}, {"z", "String", ""}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}
	if len(keys.made) != 3 || keys.unwraps != 3 {
		t.Errorf("%d keys made, %d unwrapped: want one per death", len(keys.made), keys.unwraps)
	}
}

func TestVault_SealDeath_sealsNoAttributesWhereThereAreNone(t *testing.T) {
	v, _ := newVault()
	sealed, err := v.SealDeath(t.Context(), testRecord, Death{Body: []byte("body"), Entry: entry(0)})
	if err != nil || sealed.Attributes != nil {
		t.Errorf("%d bytes of attributes, error %v: want none", len(sealed.Attributes), err)
	}
}

// fixed hands out one key.
type fixed struct{}

func (fixed) Generate(context.Context, map[string]string) (plain, wrapped []byte, err error) {
	return bytes.Clone(testKey.Plain), testKey.Wrapped, nil
}

func (fixed) Unwrap(context.Context, map[string]string, []byte) ([]byte, error) {
	return bytes.Clone(testKey.Plain), nil
}

// Records that are sealed today are opened years from now. Nothing rewrites the file: body, attributes and
// entry of a record, a line each.
func TestVault_keepsFormatVersion1(t *testing.T) {
	text, err := os.ReadFile("testdata/sealed-v1.hex")
	if err != nil {
		t.Fatal(err)
	}
	var golden [3][]byte
	if _, err := fmt.Sscanf(string(text), "%x\n%x\n%x\n", &golden[0], &golden[1], &golden[2]); err != nil {
		t.Fatal(err)
	}
	v, d := Vault{Keys: fixed{}}, testDeath
	d.Entry.Detail = "ä"
	r := mustSealDeaths(t, v, testRecord, d)
	fresh := [3][]byte{r.Sealed.Body, r.Sealed.Attributes, r.Sealed.History[0].Sealed}
	for i, p := range []part{partBody, partAttributes, historyPart(0)} {
		start := headerSize + len(testKey.Wrapped)
		if len(fresh[i]) != len(golden[i]) || !bytes.Equal(fresh[i][:start], golden[i][:start]) {
			t.Errorf("%s: sealed as %x, want the form of %x", p, fresh[i], golden[i])
		}
		if diff := cmp.Diff(before(t, p, golden[i]), before(t, p, fresh[i])); diff != "" {
			t.Errorf("%s, as an earlier version opens it (-golden +fresh):\n%s", p, diff)
		}
	}
	r.Sealed = Sealed{Body: golden[0], Attributes: golden[1], History: []SealedEntry{{Sealed: golden[2]}}}
	got, err := v.OpenAll(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := Opened{Body: d.Body, Attributes: d.Attributes, History: []Entry{d.Entry}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}
}

// before opens a part as versions did that took the nonce from the sealed text by themselves.
func before(t *testing.T, p part, sealed []byte) (plain string) {
	t.Helper()
	fips140.WithoutEnforcement(func() { // which allows no nonce of the caller's
		block, err := aes.NewCipher(testKey.Plain)
		if err != nil {
			t.Fatal(err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			t.Fatal(err)
		}
		start := headerSize + len(testKey.Wrapped)
		nonce, ciphertext := sealed[start:start+nonceSize], sealed[start+nonceSize:]
		opened, err := aead.Open(nil, nonce, ciphertext, additionalData(sealed[:start], testBinding, p))
		if err != nil {
			t.Errorf("%s: %v", p, err)
		}
		plain = string(opened)
	})
	return plain
}

// An attacker who may write to the table can neither exchange parts nor change the record around them.
func TestVault_refusesAChangedRecord(t *testing.T) {
	v, _ := newVault()
	d := testDeath
	d.Entry.Reason = delivery.ReasonTimeout
	whole := mustSealDeaths(t, v, testRecord, d, entry(1), entry(2))
	of := func(id, endpoint string) Record {
		r := testRecord
		r.DeliveryID, r.EndpointID = id, endpoint
		return mustSealDeaths(t, v, r, d, entry(1), entry(2))
	}
	other, elsewhere := of("msg_2", "webhook_1"), of("msg_1", "webhook_2")
	deaths := whole.Sealed.History
	for name, row := range map[string]struct {
		change   func(*Record)
		bodyOnly bool // opens
	}{
		"another type":                {change: func(r *Record) { r.EventType = "user.created" }},
		"another reason":              {change: func(r *Record) { r.Reason = delivery.ReasonUnreadable }},
		"another life":                {change: func(r *Record) { r.Replay = 1 }},
		"another first reason":        {change: func(r *Record) { r.Sealed.History[0].Reason = "dns" }},
		"without its last death":      {change: func(r *Record) { r.Sealed.History = deaths[:2] }},
		"without its first death":     {change: func(r *Record) { r.Sealed.History = deaths[1:] }},
		"without a death":             {change: func(r *Record) { r.Sealed.History = nil }},
		"a death twice":               {change: func(r *Record) { r.Sealed.History = append(deaths[:3:3], deaths[2]) }},
		"deaths exchanged":            {func(r *Record) { r.Sealed.History[0].Sealed = deaths[1].Sealed }, true},
		"an entry as body":            {change: func(r *Record) { r.Sealed.Body = deaths[0].Sealed }},
		"an entry cut short":          {func(r *Record) { r.Sealed.History[1].Sealed = deaths[1].Sealed[:40] }, true},
		"another record's body":       {change: func(r *Record) { r.Sealed.Body = other.Sealed.Body }},
		"another endpoint's parts":    {change: func(r *Record) { r.Sealed = elsewhere.Sealed }},
		"another record's attributes": {func(r *Record) { r.Sealed.Attributes = other.Sealed.Attributes }, true},
		"a body as attributes":        {func(r *Record) { r.Sealed.Attributes = r.Sealed.Body }, true},
		"nothing":                     {change: func(r *Record) { r.Sealed = Sealed{} }},
	} {
		t.Run(name, func(t *testing.T) {
			r := whole
			r.Sealed.History = slices.Clone(deaths)
			row.change(&r)
			got, err := v.OpenAll(t.Context(), r)
			if diff := cmp.Diff(Opened{}, got); diff != "" || !errors.Is(err, ErrUnopenable) {
				t.Errorf("opened with error %v, want ErrUnopenable and (-want +got):\n%s", err, diff)
			}
			_, err = v.OpenLast(t.Context(), r)
			if row.bodyOnly != (err == nil) || !row.bodyOnly && !errors.Is(err, ErrUnopenable) {
				t.Errorf("the body opened with error %v", err)
			}
		})
	}
}

// The plaintext was written by this package, but perhaps by another version of it. That is no forgery.
func TestVault_OpenAll_refusesAnEntryThatItCannotRead(t *testing.T) {
	v, keys := newVault()
	r := mustSealDeaths(t, v, testRecord, testDeath)
	key := dataKey{Plain: keys.made[0].plain, Wrapped: []byte("key 0")}
	sealed, err := seal(key, testBinding, historyPart(0), []byte("[]"))
	if err != nil {
		t.Fatal(err)
	}
	r.Sealed.History[0].Sealed = sealed
	got, err := v.OpenAll(t.Context(), r)
	if err == nil || errors.Is(err, ErrUnopenable) {
		t.Errorf("opened %+v with error %v", got, err)
	}
}

// The bytes of a plaintext key are overwritten when the call that needed them is over.
func TestVault_forgetsItsKeys(t *testing.T) {
	v, keys := newVault()
	r := mustSealDeaths(t, v, testRecord, testDeath, entry(1))
	if _, err := v.OpenAll(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if last, err := v.OpenLast(t.Context(), r); err != nil || string(last.Body) != "body" {
		t.Fatalf("%q, %v", last.Body, err)
	}
	if len(keys.handedOut) != 6 {
		t.Errorf("%d keys handed out, want 2 to seal and 4 to open", len(keys.handedOut))
	}
	for i, key := range keys.handedOut {
		if diff := cmp.Diff(make([]byte, keySize), key); diff != "" {
			t.Errorf("key %d of %d (-want +got):\n%s", i+1, len(keys.handedOut), diff)
		}
	}
}

func TestVault_sealsNothingWithoutAKey(t *testing.T) {
	throttled := errors.New("throttled")
	v := Vault{Keys: &fakeKeys{err: throttled}}
	if sealed, err := v.SealDeath(t.Context(), testRecord, testDeath); !errors.Is(err, throttled) || sealed.Body != nil {
		t.Errorf("a death: %+v, error %v", sealed, err)
	}
	if _, err := v.SealEntry(t.Context(), testRecord, 2, entry(1)); !errors.Is(err, throttled) {
		t.Errorf("an entry: error %v", err)
	}
}

// That KMS does not answer says nothing about the record.
func TestVault_opensNothingWithoutAKey(t *testing.T) {
	v, keys := newVault()
	r := mustSealDeaths(t, v, testRecord, testDeath)
	keys.err = errors.New("throttled")
	if _, err := v.OpenAll(t.Context(), r); err == nil || errors.Is(err, ErrUnopenable) {
		t.Errorf("error %v", err)
	}
}
