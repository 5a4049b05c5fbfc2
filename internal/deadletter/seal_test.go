package deadletter

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/delivery"
)

var (
	testKey = dataKey{
		Plain:   []byte("0123456789abcdef0123456789abcdef"),
		Wrapped: []byte("wrapped by KMS"),
	}
	testRef     = delivery.Ref{DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1"}
	testBinding = Record{Ref: testRef}.Binding()
)

func mustSeal(tb testing.TB, b Binding, p part, plain string) []byte {
	tb.Helper()
	sealed, err := seal(testKey, b, p, []byte(plain), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return sealed
}

func TestOpen_returnsWhatWasSealed(t *testing.T) {
	for name, plain := range map[string]string{
		"nothing":          "",
		"a body":           `{"type":"user.deleted","data":{}}`,
		"the largest body": strings.Repeat("x", 272<<10),
	} {
		t.Run(name, func(t *testing.T) {
			sealed := mustSeal(t, testBinding, partBody, plain)
			if plain != "" && bytes.Contains(sealed, []byte(plain)) {
				t.Error("the plain text shows")
			}
			got, err := open(testKey.Plain, testBinding, partBody, sealed)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain, string(got)); diff != "" {
				t.Errorf("opened (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpen_refusesWhatItWasNotSealedFor(t *testing.T) {
	body, entry := mustSeal(t, testBinding, partBody, "secret"), mustSeal(t, testBinding, historyPart(1), "{}")
	key := testKey.Plain
	for name, row := range map[string]struct {
		key    []byte
		b      Binding
		part   part
		sealed []byte
	}{
		"another delivery":           {key, Binding{"msg_2", "acme", "webhook_1"}, partBody, body},
		"another tenant":             {key, Binding{"msg_1", "acm", "webhook_1"}, partBody, body},
		"another endpoint":           {key, Binding{"msg_1", "acme", "webhook_2"}, partBody, body},
		"no tenant":                  {key, Binding{"msg_1", "", "webhook_1"}, partBody, body},
		"ids that shift a border":    {key, Binding{"msg_1a", "cme", "webhook_1"}, partBody, body},
		"another part":               {key, testBinding, partAttributes, body},
		"a history entry":            {key, testBinding, historyPart(0), body},
		"the entry of another death": {key, testBinding, historyPart(2), entry},
		"another key":                {[]byte("another key of thirty-two bytes!"), testBinding, partBody, body},
		"a key cut short":            {key[:31], testBinding, partBody, body},
		"no key":                     {nil, testBinding, partBody, body},
	} {
		t.Run(name, func(t *testing.T) {
			plain, err := open(row.key, row.b, row.part, row.sealed)
			if plain != nil || !errors.Is(err, ErrSealed) {
				t.Errorf("opened %q with error %v, want ErrSealed", plain, err)
			}
		})
	}
}

func TestOpen_noticesEveryChangedByteAndEveryCut(t *testing.T) {
	sealed := mustSeal(t, testBinding, partBody, "secret")
	refused := func(what string, i int, sealed []byte) {
		t.Helper()
		if _, err := open(testKey.Plain, testBinding, partBody, sealed); !errors.Is(err, ErrSealed) {
			t.Errorf("%s %d: %v, want ErrSealed", what, i, err)
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
		"a huge wrapped key": {Plain: testKey.Plain, Wrapped: make([]byte, 1<<16)},
	} {
		if sealed, err := seal(key, testBinding, partBody, nil, rand.Reader); err == nil {
			t.Errorf("%s: sealed %d bytes", name, len(sealed))
		}
	}
}

func TestSeal_refusesAShortNonce(t *testing.T) {
	if sealed, err := seal(testKey, testBinding, partBody, nil, strings.NewReader("eleven byte")); err == nil {
		t.Errorf("sealed %d bytes", len(sealed))
	}
}

func TestWrappedKey(t *testing.T) {
	longest := dataKey{Plain: testKey.Plain, Wrapped: bytes.Repeat([]byte("w"), 1<<16-1)}
	sealed, err := seal(longest, testBinding, partBody, nil, rand.Reader)
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
		"a key longer than what is there":  {"\x01\xff\xffw" + rest, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := wrappedKey([]byte(row.sealed))
			if diff := cmp.Diff(row.want, string(got)); diff != "" {
				t.Errorf("wrapped key (-want +got):\n%s", diff)
			}
			if none := row.want == ""; none != errors.Is(err, ErrSealed) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestSeal_keepsFormatVersion1 holds the format still: records written today are opened years from now.
func TestSeal_keepsFormatVersion1(t *testing.T) {
	text, err := os.ReadFile("testdata/sealed-v1.hex")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	const plain = `{"type":"user.deleted","data":{"userId":"user_1"}}`
	sealed, err := seal(testKey, testBinding, partBody, []byte(plain), strings.NewReader("twelve bytes"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(golden, sealed); diff != "" {
		t.Errorf("sealed (-want +got):\n%s", diff)
	}
	opened, err := open(testKey.Plain, testBinding, partBody, golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain, string(opened)); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
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
		if err != nil && !errors.Is(err, ErrSealed) {
			t.Errorf("%v", err)
		}
		if err == nil && string(plain) != "secret" {
			t.Errorf("forged %q", plain)
		}
	})
}
