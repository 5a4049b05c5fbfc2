package deadletter

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/internal/delivery"
)

var (
	testKey = DataKey{
		Plain:   []byte("0123456789abcdef0123456789abcdef"),
		Wrapped: []byte("wrapped by KMS"),
	}
	testRef     = delivery.Ref{DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1"}
	testBinding = Record{Ref: testRef}.Binding()
)

func mustSeal(tb testing.TB, b Binding, part Part, plain string) []byte {
	tb.Helper()
	sealed, err := Seal(testKey, b, part, []byte(plain), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return sealed
}

func TestSealedPartsOpenForWhatTheyWereSealedFor(t *testing.T) {
	for _, plain := range []string{"", `{"type":"user.deleted","data":{}}`, strings.Repeat("x", 272<<10)} {
		sealed := mustSeal(t, testBinding, PartBody, plain)
		if plain != "" && bytes.Contains(sealed, []byte(plain)) {
			t.Error("the plain text shows")
		}
		got, err := Open(testKey.Plain, testBinding, PartBody, sealed)
		if err != nil || string(got) != plain {
			t.Errorf("%d bytes: opened %d bytes, %v", len(plain), len(got), err)
		}
	}
}

func TestSealedPartsOpenForNothingElse(t *testing.T) {
	sealed := mustSeal(t, testBinding, PartBody, "secret")
	for name, row := range map[string]struct {
		b    Binding
		part Part
	}{
		"another delivery":        {Binding{"msg_2", "acme", "webhook_1"}, PartBody},
		"another tenant":          {Binding{"msg_1", "acm", "webhook_1"}, PartBody},
		"another endpoint":        {Binding{"msg_1", "acme", "webhook_2"}, PartBody},
		"no tenant":               {Binding{"msg_1", "", "webhook_1"}, PartBody},
		"ids that shift a border": {Binding{"msg_1a", "cme", "webhook_1"}, PartBody},
		"another part":            {testBinding, PartAttributes},
		"a history entry":         {testBinding, HistoryPart(0)},
	} {
		if _, err := Open(testKey.Plain, row.b, row.part, sealed); !errors.Is(err, ErrSealed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open([]byte("another key of thirty-two bytes!"), testBinding, PartBody, sealed); !errors.Is(err, ErrSealed) {
		t.Errorf("another key: %v", err)
	}
	entry := mustSeal(t, testBinding, HistoryPart(1), "{}")
	if _, err := Open(testKey.Plain, testBinding, HistoryPart(2), entry); !errors.Is(err, ErrSealed) {
		t.Errorf("the entry of another death: %v", err)
	}
}

func TestEveryChangedByteAndEveryCutIsNoticed(t *testing.T) {
	sealed := mustSeal(t, testBinding, PartBody, "secret")
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 0x01
		if _, err := Open(testKey.Plain, testBinding, PartBody, changed); !errors.Is(err, ErrSealed) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := Open(testKey.Plain, testBinding, PartBody, sealed[:i]); !errors.Is(err, ErrSealed) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
	if _, err := Open(testKey.Plain, testBinding, PartBody, append(sealed, 0)); !errors.Is(err, ErrSealed) {
		t.Errorf("one byte more: %v", err)
	}
}

func TestSealRefusesWeakKeys(t *testing.T) {
	for name, key := range map[string]DataKey{
		"128 bits":          {Plain: testKey.Plain[:16], Wrapped: testKey.Wrapped},
		"no wrapped key":    {Plain: testKey.Plain},
		"a huge wrapped ke": {Plain: testKey.Plain, Wrapped: make([]byte, 1<<16)},
	} {
		if _, err := Seal(key, testBinding, PartBody, nil, rand.Reader); err == nil {
			t.Errorf("%s: sealed", name)
		}
	}
	if _, err := Seal(testKey, testBinding, PartBody, nil, strings.NewReader("short")); err == nil {
		t.Error("sealed without a full nonce")
	}
}

// TestFormatVersion1 holds the format still: records written today are opened years from now.
func TestFormatVersion1(t *testing.T) {
	text, err := os.ReadFile("testdata/sealed-v1.hex")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	const plain = `{"type":"user.deleted","data":{"userId":"user_1"}}`
	sealed, err := Seal(testKey, testBinding, PartBody, []byte(plain), strings.NewReader("twelve bytes"))
	if err != nil || !bytes.Equal(sealed, golden) {
		t.Errorf("sealed %x, %v", sealed, err)
	}
	opened, err := Open(testKey.Plain, testBinding, PartBody, golden)
	if err != nil || string(opened) != plain {
		t.Errorf("opened %q, %v", opened, err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(mustSeal(f, testBinding, PartBody, "secret"))
	f.Add([]byte{})
	f.Add([]byte{1, 0xff, 0xff, 0})
	f.Add([]byte{1, 0, 0})
	genuine := mustSeal(f, testBinding, PartBody, "genuine")
	f.Fuzz(func(t *testing.T, sealed []byte) {
		if bytes.Equal(sealed, genuine) {
			return
		}
		plain, err := Open(testKey.Plain, testBinding, PartBody, sealed)
		if err != nil && !errors.Is(err, ErrSealed) {
			t.Errorf("%v", err)
		}
		if err == nil && string(plain) != "secret" {
			t.Errorf("forged %q", plain)
		}
	})
}

func FuzzAttributes(f *testing.F) {
	f.Add(encodeAttributes([]Attribute{{"version", "String", "7"}, {"a", "Binary", "\x00"}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		attributes, err := decodeAttributes(b)
		if err != nil {
			return
		}
		again, err := decodeAttributes(encodeAttributes(attributes))
		if err != nil || len(again) != len(attributes) {
			t.Errorf("%d attributes became %d, %v", len(attributes), len(again), err)
		}
	})
}
