package deadletter

import (
	"bytes"
	"cmp"
	"errors"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/delivery"
)

var (
	testKey = dataKey{
		Plain:   []byte("0123456789abcdef0123456789abcdef"),
		Wrapped: []byte("wrapped by KMS"),
	}
	testRecord = Record{
		Ref:       delivery.Ref{DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1"},
		EventType: "user.deleted", Reason: delivery.ReasonHTTP5xx,
	}
	testBinding = testRecord.Binding(1, testRecord.Reason)
)

func mustSeal(tb testing.TB, b Binding, p part, plain string) []byte {
	tb.Helper()
	sealed, err := seal(testKey, b, p, []byte(plain))
	if err != nil {
		tb.Fatal(err)
	}
	return sealed
}

func TestOpen_refusesWhatItWasNotSealedFor(t *testing.T) {
	bound := func(change func(*Binding)) Binding {
		b := testBinding
		change(&b)
		return b
	}
	body := mustSeal(t, testBinding, partBody, "secret")
	for name, row := range map[string]struct {
		key  string
		b    Binding
		part part
	}{
		"another delivery": {b: bound(func(b *Binding) { b.DeliveryID = "msg_2" })},
		"another tenant":   {b: bound(func(b *Binding) { b.TenantID = "acm" })},
		"another endpoint": {b: bound(func(b *Binding) { b.EndpointID = "webhook_2" })},
		"another type":     {b: bound(func(b *Binding) { b.EventType = "user.created" })},
		"another reason":   {b: bound(func(b *Binding) { b.Reason = delivery.ReasonUnreadable })},
		"another number":   {b: bound(func(b *Binding) { b.Deaths = 2 })},
		"a shifted border": {b: bound(func(b *Binding) { b.DeliveryID, b.TenantID = "msg_1a", "cme" })},
		"another part":     {b: testBinding, part: partAttributes},
		"a history entry":  {b: testBinding, part: historyPart(0)},
		"another key":      {b: testBinding, key: "another key of thirty-two bytes!"},
		"a key cut short":  {b: testBinding, key: string(testKey.Plain[:31])},
	} {
		t.Run(name, func(t *testing.T) {
			key := cmp.Or(row.key, string(testKey.Plain))
			plain, err := open([]byte(key), row.b, cmp.Or(row.part, partBody), body)
			if plain != nil || !errors.Is(err, ErrUnopenable) {
				t.Errorf("opened %q with error %v, want ErrUnopenable", plain, err)
			}
		})
	}
}

func TestOpen_noticesEveryChangedByteAndEveryCut(t *testing.T) {
	sealed := mustSeal(t, testBinding, partBody, "secret")
	refused := func(what string, i int, sealed []byte) {
		t.Helper()
		if _, err := open(testKey.Plain, testBinding, partBody, sealed); !errors.Is(err, ErrUnopenable) {
			t.Errorf("%s %d: %v, want ErrUnopenable", what, i, err)
		}
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 0x01
		refused("changed byte", i, changed)
		refused("cut to bytes", i, sealed[:i])
	}
	refused("bytes more", 1, append(sealed, 0))
}

func TestSeal_refusesWeakKeys(t *testing.T) {
	for name, key := range map[string]dataKey{
		"128 bits":           {Plain: testKey.Plain[:16], Wrapped: testKey.Wrapped},
		"264 bits":           {Plain: append(bytes.Clone(testKey.Plain), 0), Wrapped: testKey.Wrapped},
		"no wrapped key":     {Plain: testKey.Plain},
		"a huge wrapped key": {Plain: testKey.Plain, Wrapped: make([]byte, 6145)},
	} {
		if sealed, err := seal(key, testBinding, partBody, nil); err == nil {
			t.Errorf("%s: sealed %d bytes", name, len(sealed))
		}
	}
}

func TestWrappedKey(t *testing.T) {
	longest := dataKey{Plain: testKey.Plain, Wrapped: bytes.Repeat([]byte("w"), 6144)}
	sealed, err := seal(longest, testBinding, partBody, nil)
	if err != nil {
		t.Fatal(err)
	}
	rest := strings.Repeat("\x00", nonceSize+tagSize)
	for name, row := range map[string]struct {
		sealed string
		want   string // "" for none
	}{
		"the longest there can be":         {string(sealed), string(longest.Wrapped)},
		"the shortest there can be":        {"\x01\x00\x01w" + rest, "w"},
		"nothing":                          {"", ""},
		"a header cut short":               {"\x01\x00", ""},
		"another version":                  {"\x02\x00\x01w" + rest, ""},
		"no key at all":                    {"\x01\x00\x00" + rest, ""},
		"one byte less than nonce and tag": {"\x01\x00\x01w" + rest[1:], ""},
		"a key longer than what is there":  {"\x01\x00\x02w" + rest, ""},
		"a key longer than KMS takes":      {"\x01\x18\x01" + strings.Repeat("w", 6145) + rest, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := wrappedKey([]byte(row.sealed))
			if diff := gocmp.Diff(row.want, string(got)); diff != "" {
				t.Errorf("wrapped key (-want +got):\n%s", diff)
			}
			if none := row.want == ""; none != errors.Is(err, ErrUnopenable) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(mustSeal(f, testBinding, partBody, "secret"))
	f.Add([]byte{})
	f.Add([]byte{1, 0xff, 0xff, 0})
	f.Add([]byte{1, 0, 0})
	genuine := mustSeal(f, testBinding, partBody, "genuine")
	f.Fuzz(func(t *testing.T, sealed []byte) {
		if bytes.Equal(sealed, genuine) {
			return
		}
		plain, err := open(testKey.Plain, testBinding, partBody, sealed)
		if err != nil && !errors.Is(err, ErrUnopenable) {
			t.Errorf("%v", err)
		}
		if err == nil && string(plain) != "secret" {
			t.Errorf("forged %q", plain)
		}
	})
}
