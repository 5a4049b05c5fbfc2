package deadletter

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// fakeKeys wraps keys by number and checks the encryption context as KMS does.
type fakeKeys struct {
	made []struct {
		plain      []byte
		encryption map[string]string
	}
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
	k.made = append(k.made, struct {
		plain      []byte
		encryption map[string]string
	}{bytes.Clone(plain), encryption})
	k.handedOut = append(k.handedOut, plain)
	return plain, []byte("key " + strconv.Itoa(len(k.made)-1)), nil
}

func (k *fakeKeys) Unwrap(_ context.Context, encryption map[string]string, wrapped []byte) ([]byte, error) {
	k.unwraps++
	i, err := strconv.Atoi(string(wrapped[len("key "):]))
	if err != nil || !maps.Equal(k.made[i].encryption, encryption) {
		return nil, errors.New("InvalidCiphertextException")
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

var ignoreSeals = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Sealed" }, cmp.Ignore())

func newVault() (Vault, *fakeKeys) {
	keys := &fakeKeys{}
	return Vault{Keys: keys, Random: rand.Reader}, keys
}

func mustSealDeath(t *testing.T, v Vault, b Binding, d Death) Sealed {
	t.Helper()
	sealed, err := v.SealDeath(t.Context(), b, d)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func mustSealEntry(t *testing.T, v Vault, e Entry) SealedEntry {
	t.Helper()
	sealed, err := v.SealEntry(t.Context(), testBinding, e)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(SealedEntry{Replay: e.Replay}, sealed, ignoreSeals); diff != "" {
		t.Errorf("sealed entry (-want +got):\n%s", diff)
	}
	return sealed
}

func TestVault_OpenAll_returnsARecordWithItsWholeHistory(t *testing.T) {
	v, keys := newVault()
	attributes := []Attribute{{"version", "String", "7"}, {"trace", "Binary", "\x00\xff\""}}
	r := Record{Ref: testRef}
	r.Sealed = mustSealDeath(t, v, testBinding, Death{Body: []byte("body"), Attributes: attributes, Entry: entry(0)})
	for replay := 1; replay <= 2; replay++ {
		r.Sealed.History = append(r.Sealed.History, mustSealEntry(t, v, entry(replay)))
	}
	got, err := v.OpenAll(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := Opened{
		Body: []byte("body"), History: []Entry{entry(0), entry(1), entry(2)},
		Attributes: []Attribute{{"trace", "Binary", "\x00\xff\""}, {"version", "String", "7"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}
	if len(keys.made) != 3 || keys.unwraps != 3 {
		t.Errorf("%d keys made, %d unwrapped: want one per death", len(keys.made), keys.unwraps)
	}
	if diff := cmp.Diff(testBinding.Context(), keys.made[0].encryption); diff != "" {
		t.Errorf("encryption context (-want +got):\n%s", diff)
	}
}

func TestVault_OpenAll_refusesSwappedParts(t *testing.T) {
	v, _ := newVault()
	death := Death{Body: []byte("body"), Attributes: []Attribute{{"version", "String", "7"}}, Entry: entry(0)}
	whole := mustSealDeath(t, v, testBinding, death)
	other := mustSealDeath(t, v, Binding{"msg_2", "acme", "webhook_1"}, death)
	first, second := whole.History[0], mustSealEntry(t, v, entry(1))
	for name, change := range map[string]func(*Sealed){
		"an entry in the body's place": func(s *Sealed) { s.Body = first.Sealed },
		"a body in an entry's place":   func(s *Sealed) { s.History = []SealedEntry{{0, s.Body}} },
		"two entries exchanged":        func(s *Sealed) { s.History = []SealedEntry{{0, second.Sealed}, {1, first.Sealed}} },
		"another record's body":        func(s *Sealed) { s.Body = other.Body },
		"another record's attributes":  func(s *Sealed) { s.Attributes = other.Attributes },
		"another record's entry":       func(s *Sealed) { s.History = other.History },
		"a body as attributes":         func(s *Sealed) { s.Attributes = s.Body },
		"an entry that is cut short":   func(s *Sealed) { s.History = []SealedEntry{{0, first.Sealed[:40]}} },
		"nothing":                      func(s *Sealed) { *s = Sealed{} },
	} {
		t.Run(name, func(t *testing.T) {
			s := whole
			change(&s)
			got, err := v.OpenAll(t.Context(), Record{Ref: testRef, Sealed: s})
			if err == nil {
				t.Error("opened")
			}
			if diff := cmp.Diff(Opened{}, got); diff != "" {
				t.Errorf("beside the error (-want +got):\n%s", diff)
			}
		})
	}
}

// What a seal holds was written by this package, but perhaps by another version of it.
func TestVault_OpenAll_refusesWhatItCannotRead(t *testing.T) {
	v, keys := newVault()
	whole := mustSealDeath(t, v, testBinding, Death{Body: []byte("body"), Entry: entry(0)})
	key := dataKey{Plain: keys.made[0].plain, Wrapped: []byte("key 0")}
	sealedUnder := func(p part, plain string) []byte {
		sealed, err := seal(key, testBinding, p, []byte(plain), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	for name, row := range map[string]struct {
		change func(*Sealed)
		want   string
	}{
		"attributes cut short": {
			func(s *Sealed) { s.Attributes = sealedUnder(partAttributes, "\x00\x00") },
			"decoding attributes: sealed part does not open",
		},
		"an entry that is not an object": {
			func(s *Sealed) { s.History = []SealedEntry{{3, sealedUnder(historyPart(3), "[]")}} },
			"decoding history entry 3: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := whole
			row.change(&s)
			got, err := v.OpenAll(t.Context(), Record{Ref: testRef, Sealed: s})
			if err == nil || !strings.HasPrefix(err.Error(), row.want) {
				t.Errorf("opened %+v with error %v, want %q", got, err, row.want)
			}
		})
	}
}

func TestVault_SealDeath_sealsNoAttributesWhereThereAreNone(t *testing.T) {
	v, _ := newVault()
	got := mustSealDeath(t, v, testBinding, Death{Body: []byte("body"), Entry: entry(0)})
	if got.Attributes != nil {
		t.Errorf("sealed %d bytes of attributes", len(got.Attributes))
	}
}

func TestVault_OpenBody_opensNothingElse(t *testing.T) {
	v, keys := newVault()
	s := mustSealDeath(t, v, testBinding, Death{Body: []byte("body"), Entry: entry(0)})
	s.History = []SealedEntry{{0, []byte("broken")}}
	got, err := v.OpenBody(t.Context(), Record{Ref: testRef, Sealed: s})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("body", string(got)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if keys.unwraps != 1 {
		t.Errorf("%d keys unwrapped, want 1", keys.unwraps)
	}
}

// The bytes of a plaintext key are overwritten when the call that needed them is over.
func TestVault_forgetsItsKeys(t *testing.T) {
	v, keys := newVault()
	s := mustSealDeath(t, v, testBinding, Death{Body: []byte("body"), Entry: entry(0)})
	s.History = append(s.History, mustSealEntry(t, v, entry(1)))
	r := Record{Ref: testRef, Sealed: s}
	if _, err := v.OpenAll(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := v.OpenBody(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if len(keys.handedOut) != 5 {
		t.Errorf("%d keys handed out, want 2 to seal and 3 to open", len(keys.handedOut))
	}
	for i, key := range keys.handedOut {
		if diff := cmp.Diff(make([]byte, keySize), key); diff != "" {
			t.Errorf("key %d of %d (-want +got):\n%s", i+1, len(keys.handedOut), diff)
		}
	}
}

func TestVault_sealsNothingWithoutAKey(t *testing.T) {
	throttled := errors.New("throttled")
	v := Vault{Keys: &fakeKeys{err: throttled}, Random: rand.Reader}
	sealed, err := v.SealDeath(t.Context(), testBinding, Death{Body: []byte("body")})
	if !errors.Is(err, throttled) {
		t.Errorf("a death: error %v", err)
	}
	if diff := cmp.Diff(Sealed{}, sealed); diff != "" {
		t.Errorf("beside the error (-want +got):\n%s", diff)
	}
	if _, err := v.SealEntry(t.Context(), testBinding, entry(1)); !errors.Is(err, throttled) {
		t.Errorf("an entry: error %v", err)
	}
}

// Each part takes a nonce of 12 bytes.
func TestVault_sealsNothingWithoutRandomness(t *testing.T) {
	d := Death{Body: []byte("body"), Attributes: []Attribute{{"version", "String", "7"}}, Entry: entry(0)}
	for nonces := range 3 {
		random := strings.NewReader(strings.Repeat("n", nonces*nonceSize))
		v := Vault{Keys: &fakeKeys{}, Random: random}
		if sealed, err := v.SealDeath(t.Context(), testBinding, d); err == nil {
			t.Errorf("%d nonces: sealed %+v", nonces, sealed)
		}
	}
}

func TestVault_opensNothingWithoutAKey(t *testing.T) {
	v, keys := newVault()
	s := mustSealDeath(t, v, testBinding, Death{Body: []byte("body"), Entry: entry(0)})
	keys.made[0].encryption = nil // KMS compares the context
	for name, attempt := range map[string]func(Record) error{
		"the body":   func(r Record) error { _, err := v.OpenBody(t.Context(), r); return err },
		"everything": func(r Record) error { _, err := v.OpenAll(t.Context(), r); return err },
	} {
		err := attempt(Record{Ref: testRef, Sealed: s})
		if err == nil || !strings.HasSuffix(err.Error(), "unwrapping data key: InvalidCiphertextException") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
