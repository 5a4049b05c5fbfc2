package deadletter

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
)

// fakeKeys wraps keys by number and checks the encryption context as KMS does.
type fakeKeys struct {
	made []struct {
		plain      []byte
		encryption map[string]string
	}
	unwraps int
	err     error
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
	}{append([]byte(nil), plain...), encryption})
	return plain, []byte("key " + strconv.Itoa(len(k.made)-1)), nil
}

func (k *fakeKeys) Unwrap(_ context.Context, encryption map[string]string, wrapped []byte) ([]byte, error) {
	k.unwraps++
	i, err := strconv.Atoi(string(wrapped[len("key "):]))
	if err != nil || !maps.Equal(k.made[i].encryption, encryption) {
		return nil, errors.New("InvalidCiphertextException")
	}
	return append([]byte(nil), k.made[i].plain...), nil
}

func entry(replay int) Entry {
	return Entry{
		DiedAt: time.Date(2026, 1, 2, 3, 4, 5+replay, 0, time.UTC), Reason: delivery.ReasonHTTP5xx,
		Attempts: 10, LastStatus: 503, Replay: replay, MessageID: "m" + strconv.Itoa(replay),
	}
}

func TestARecordOpensWithItsWholeHistory(t *testing.T) {
	keys := &fakeKeys{}
	v := Vault{Keys: keys, Random: rand.Reader}
	attributes := []Attribute{{"version", "String", "7"}, {"trace", "Binary", "\x00\xff\""}}
	r := Record{Ref: testRef}
	var err error
	if r.Sealed, err = v.SealDeath(t.Context(), testBinding, Death{Body: []byte("body"), Attributes: attributes, Entry: entry(0)}); err != nil {
		t.Fatal(err)
	}
	for replay := 1; replay <= 2; replay++ {
		e, err := v.SealEntry(t.Context(), testBinding, entry(replay))
		if err != nil {
			t.Fatal(err)
		}
		r.Sealed.History = append(r.Sealed.History, e)
	}
	got, err := v.OpenAll(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := Opened{
		Body: []byte("body"), History: []Entry{entry(0), entry(1), entry(2)},
		Attributes: []Attribute{{"trace", "Binary", "\x00\xff\""}, {"version", "String", "7"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if len(keys.made) != 3 || keys.unwraps != 3 {
		t.Errorf("%d keys made, %d unwrapped: want one per death", len(keys.made), keys.unwraps)
	}
	if c := keys.made[0].encryption; !maps.Equal(c, map[string]string{"purpose": "dead-letter", "tenant_id": "acme", "endpoint_id": "webhook_1", "delivery_id": "msg_1"}) {
		t.Errorf("encryption context %v", c)
	}
}

func TestSwappedPartsDoNotOpen(t *testing.T) {
	v := Vault{Keys: &fakeKeys{}, Random: rand.Reader}
	sealed, err := v.SealDeath(t.Context(), testBinding, Death{Body: []byte("body"), Entry: entry(0)})
	if err != nil {
		t.Fatal(err)
	}
	second, err := v.SealEntry(t.Context(), testBinding, entry(1))
	if err != nil {
		t.Fatal(err)
	}
	other, err := v.SealDeath(t.Context(), Binding{"msg_2", "acme", "webhook_1"}, Death{Body: []byte("body"), Entry: entry(0)})
	if err != nil {
		t.Fatal(err)
	}
	first := sealed.History[0]
	for name, s := range map[string]Sealed{
		"entry in the body's place":  {Body: first.Sealed, History: sealed.History},
		"body in an entry's place":   {Body: sealed.Body, History: []SealedEntry{{0, sealed.Body}}},
		"two entries exchanged":      {Body: sealed.Body, History: []SealedEntry{{0, second.Sealed}, {1, first.Sealed}}},
		"another record's body":      {Body: other.Body, History: sealed.History},
		"another record's entry":     {Body: sealed.Body, History: other.History},
		"a body as attributes":       {Body: sealed.Body, Attributes: sealed.Body, History: sealed.History},
		"an entry that is cut short": {Body: sealed.Body, History: []SealedEntry{{0, first.Sealed[:40]}}},
		"nothing":                    {},
	} {
		if _, err := v.OpenAll(t.Context(), Record{Ref: testRef, Sealed: s}); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

func TestAnUnreadableMessageHasNoIdsInItsContext(t *testing.T) {
	b := Binding{DeliveryID: UnreadablePrefix + "1"}
	if c := b.Context(); len(c) != 2 || c["purpose"] != Purpose || c["delivery_id"] != b.DeliveryID {
		t.Errorf("%v", c)
	}
}

func TestNothingIsSealedWithoutAKey(t *testing.T) {
	v := Vault{Keys: &fakeKeys{err: errors.New("throttled")}, Random: rand.Reader}
	if s, err := v.SealDeath(t.Context(), testBinding, Death{Body: []byte("body")}); err == nil || s.Body != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := v.SealEntry(t.Context(), testBinding, entry(1)); err == nil {
		t.Error("sealed an entry")
	}
}
