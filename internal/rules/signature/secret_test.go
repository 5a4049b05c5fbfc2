package signature_test

import (
	"bytes"
	"crypto/fips140"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/herald-webhooks/herald/internal/rules/signature"
)

func TestNewSecret_isThirtyTwoRandomBytesInBase64(t *testing.T) {
	first, varied := signature.NewSecret(), map[int]bool{}
	for range 30 {
		secret := signature.NewSecret()
		for i := range secret {
			if secret[i] != first[i] {
				varied[i] = true
			}
		}
		encoded, found := strings.CutPrefix(secret, "whsec_")
		if raw, err := base64.StdEncoding.DecodeString(encoded); !found || err != nil || len(raw) != 32 {
			t.Errorf("%q has %d bytes, %v", secret, len(raw), err)
		}
	}
	if len(varied) != 43 {
		t.Errorf("%d characters are random, want 43", len(varied))
	}
}

func TestCheckImported_takesKeysOfOtherSenders(t *testing.T) {
	const literal = "the literal text of a key"
	longest := make([]byte, 1024)
	_, _ = rand.NewChaCha8([32]byte{}).Read(longest)
	for _, secret := range []string{
		"whsec_AP+AIG5vdCBCYXNlNjQgb2YgdGV4dCD+", "whsec_AP+AIG5vdCBCYXNlNjQgb2YgdGV4dCD+/w==",
		"whsec_AP+AIG5vdCBCYXNlNjQgb2YgdGV4dCD+/w", literal, hex.EncodeToString(longest[:512]),
		"ключ чужого", "whs_" + literal,
		"AP+AIG5vdCBCYXNlNjQgb2Yg", "whsec_AP+AIG5vdCBCYXNlNjQgb2YgdGV4dCD+/x==",
		"whsec_" + base64.StdEncoding.EncodeToString(longest),
		"whsk_AP1AIG5vdCBCYXNlNjQgb2Yg", // PayMongo's are such: texts for HMAC
		"whsk_" + hex.EncodeToString(longest[:16]), "whsk_" + literal,
	} {
		if err := signature.CheckImported(secret); err != nil {
			t.Errorf("%q: %v", secret, err)
		}
	}
}

// short are secrets whose text has 16 characters or more, and whose Base64 stands for 12 or 13 bytes.
var short = []string{"0a8f2b1c4d5e4f6a", "0A8F2B1C4D5E4F6A", "0a8f2b1c4d5e4f6a9c", "q83vEjRWeJCrze8S"}

// The tests run once more with FIPS 140-3, which a program cannot change once it has begun.
func TestCheckImported_takesShortKeysWithoutFIPSAlone(t *testing.T) {
	for _, secret := range short {
		err := signature.CheckImported(secret)
		if fips140.Enabled() != (err != nil) {
			t.Errorf("%s, FIPS 140-3 %t: %v", secret, fips140.Enabled(), err)
		}
		if err != nil && (!strings.Contains(err.Error(), "FIPS 140-3") || strings.Contains(err.Error(), secret)) {
			t.Errorf("%s: %v", secret, err)
		}
	}
	const enough = "0a8f2b1c4d5e4f6a9cA" // 14 bytes
	if err := signature.CheckImported(enough); err != nil {
		t.Errorf("%s, FIPS 140-3 %t: %v", enough, fips140.Enabled(), err)
	}
	if fips140.Enabled() {
		return
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), "GODEBUG=fips140=on")
	if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("with FIPS 140-3: %v\n%s", err, out)
	}
}

func TestCheckImported_refusesWhatIsNoKeyAndDoesNotQuoteIt(t *testing.T) {
	half, both := strings.Repeat("AP+A", 10)+"AP8", strings.Repeat("AP+A", 21)+"AA" // 32 and 64 bytes
	for secret, want := range map[string]string{
		"": "16 to 1024 bytes", "fifteen letters": "16 to 1024 bytes", strings.Repeat("x", 1025): "16 to 1024 bytes",
		"whsec_": "16 to 1024 bytes", "whsec_AP+AAP+A": "16 to 1024 bytes", "whsec_AP+_AP+_AP+_AP+_AP+_AP+_": "Base64",
		"whsec_AP+AAP+AAP+AAP+AAP+AAP+A/": "Base64", "whsec_AP+AAP+AAP+AAP+AAP+AAP+A\n": "spaces",
		"AAECAwQFBgcICQoLDA0ODxAREhMUFRYX": "random", // as below whsec_: a library decodes both
		"the literal text of a key\n":      "spaces", "whsk_" + half + "=": "asymmetric", "whsk_" + both + "==": "asymmetric",
		"whpk_" + half: "asymmetric", "whsk1_" + both: "asymmetric", "whpk1_" + half + "=": "asymmetric",
	} {
		err := signature.CheckImported(secret)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "AP+") {
			t.Errorf("%q: %v", secret, err)
		}
	}
}

// A control character cannot be seen where a secret is shown, and does not survive headers, files and shells.
func TestCheckImported_refusesControlCharacters(t *testing.T) {
	for c := rune(0); c < 0x100; c++ {
		if !unicode.IsControl(c) {
			continue
		}
		for _, secret := range []string{
			"whsec_AP+AIG5vdCBCYXNlNjQg" + string(c) + "b2YgdGV4dCD+", "the literal" + string(c) + "text of a key",
		} {
			err := signature.CheckImported(secret)
			if err == nil || !strings.Contains(err.Error(), "control characters") {
				t.Errorf("%q: %v", secret, err)
			}
		}
	}
}

// Random bytes are accepted in every encoding. They come from a seeded generator, because rapid's own bytes prefer
// special values.
func TestCheckImported_takesWhateverIsRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, rapid.Uint64().Draw(t, "seed")))
		random := rand.NewChaCha8(seed)
		raw := make([]byte, rapid.IntRange(16, 64).Draw(t, "bytes"))
		_, _ = random.Read(raw)
		words := make([]byte, 24)
		for i := range words {
			words[i] = "abcdefghijklmnopqrstuvwxyz"[random.Uint64()%26]
		}
		for form, secret := range map[string]string{
			"16 hexadecimal digits": hex.EncodeToString(raw[:8]), "hexadecimal": hex.EncodeToString(raw),
			"upper case": strings.ToUpper(hex.EncodeToString(raw)), "Base64": base64.StdEncoding.EncodeToString(raw),
			"base64url": base64.RawURLEncoding.EncodeToString(raw), "base32": base32.StdEncoding.EncodeToString(raw),
			"a UUID":            fmt.Sprintf("%x-%x-4%x-8%x-%x", raw[:4], raw[4:6], raw[6:7], raw[7:8], raw[8:14]),
			"Standard Webhooks": "whsec_" + base64.StdEncoding.EncodeToString(raw), "letters": string(words),
			"binary digits": fmt.Sprintf("%b", raw), "another sender's": "sk_live_" + hex.EncodeToString(raw[:8]),
			"decimal digits": new(big.Int).SetBytes(raw).String(),
		} {
			if form == "16 hexadecimal digits" && fips140.Enabled() {
				continue // TestCheckImported_takesShortKeysWithoutFIPSAlone
			}
			if err := signature.CheckImported(secret); err != nil {
				t.Errorf("%s: %s: %v", form, secret, err)
			}
		}
	})
}

// A secret of any length is refused if it repeats itself or counts.
//
// Threat of a receiver: guesses the key of an imported endpoint. Held by: 16 bytes at least, none that repeats or
// counts.
func TestCheckImported_refusesWhatAnyoneWouldTry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.IntRange(16, 200).Draw(t, "length")
		unit := rapid.SliceOfN(rapid.Byte(), 1, length/2).Draw(t, "unit")
		step := rapid.Byte().Draw(t, "step")
		repeated, counted := make([]byte, length), make([]byte, length)
		for i := range length {
			repeated[i], counted[i] = unit[i%len(unit)], unit[0]+byte(i)*step
		}
		almost := bytes.Repeat(unit[:1], length)
		almost[rapid.IntRange(0, length-1).Draw(t, "place")] = step
		for _, weak := range [][]byte{repeated, counted, almost} {
			if err := signature.CheckImported("whsec_" + base64.StdEncoding.EncodeToString(weak)); err == nil {
				t.Errorf("%x is taken", weak)
			}
		}
	})
	for _, weak := range []string{
		"aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaab", "abababababababab", "passwordpassword", "secretsecretsecret",
		"0123456789abcdef", "1234567890123456", "0123456789abcdef0123456789abcdef", "abcdefghijklmnopqrstuvwxyz",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "aaaaaaaabbbbbbbb", "aaaabbbbccccdddd",
		"deadbeefdeadbeef", "00000000000000000000000000000001", strings.Repeat("é", 8), strings.Repeat("x", 1024),
		"9876543210987654", "xxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxxxx",
	} {
		if err := signature.CheckImported(weak); err == nil || strings.Contains(err.Error(), weak) {
			t.Errorf("%q: %v", weak, err)
		}
	}
}

// A key that has just the least variety is taken, so that no bound is higher than it says.
func TestCheckImported_takesTheLeastVariety(t *testing.T) {
	const bytes = "abbabaabbaababbaaabbabab" // 24 bits: two, twelve times each
	key := []byte{'!'}                       // 16 bits of steps: two, eight times each
	for _, step := range "1131331131133313" {
		key = append(key, key[len(key)-1]+byte(step-'0'))
	}
	for _, secret := range []string{bytes, string(key)} {
		if err := signature.CheckImported(secret); err != nil {
			t.Errorf("%q: %v", secret, err)
		}
	}
}
