//go:build emulator

package examples_test

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/signature"
)

// shown is a delivery as a receiver's developer gives it to check.sh.
type shown struct{ secret, id, timestamp, signature, body, length string }

// Each mistake that a developer makes has its answer.
func TestCheck_saysWhyADeliveryDidNotVerify(t *testing.T) {
	const id, body, test = "msg_1", `{"type":"user.created","data":{"name":"Zoë"}}`, `{"type":"herald.test","data":{}}`
	const nothing = "nothing fits: the secret is another one, or the body was parsed and written again"
	secret, now := signature.NewSecret(), time.Now().Unix()
	stamp := strconv.FormatInt(now, 10)
	text, decoded := signature.Sign(secret, id, now, []byte(body)), signature.SignDecoded(secret, id, now, []byte(body))
	bare := signature.Sign(strings.TrimPrefix(secret, "whsec_"), id, now, []byte(body))
	other := signature.SignDecoded(signature.NewSecret(), id, now, []byte(body))
	const under = " under the whole text of the secret, as wh-signature does"
	const verifies, quoted = "verifies" + under, " has white space or quotes around it"
	const written = `the body does not begin with {"type":": it was parsed and written again`
	const encoded = "the body does not begin with {: it is encoded, compressed, or no body"
	const library = "verifies under the decoded secret, as webhook-signature does"
	signed := func(body string) string { return signature.Sign(secret, "test_1", now, []byte(body)) }
	imported := "an imported secret of theirs"
	for name, row := range map[string]struct {
		given shown
		want  []string
	}{
		"nothing":        {shown{secret, id, stamp, text, body, ""}, []string{verifies}},
		"a library's":    {shown{secret, id, stamp, decoded, body, ""}, []string{library}},
		"a rotation's":   {shown{secret, id, stamp, other + " " + decoded + " v1a,YQ==", body, ""}, []string{library}},
		"another secret": {shown{signature.NewSecret(), id, stamp, text, body, ""}, []string{nothing}},
		"a parsed body":  {shown{secret, id, stamp, text, strings.Replace(body, "ë", `\u00eb`, 1), ""}, []string{nothing}},
		"spaces in a body": {shown{secret, id, stamp, text, strings.ReplaceAll(body, ":", ": "), ""},
			[]string{"verifies, without the spaces of a serializer," + under, written}},
		"names in another order": {shown{secret, id, stamp, text, `{"data":{"name":"Zoë"},"type":"user.created"}`, ""},
			[]string{nothing, written}},
		"another id": {shown{secret, "msg_2", stamp, text, body, ""}, []string{nothing}},
		"another header's id": {shown{secret, "req_2", stamp, text, body, ""},
			[]string{nothing, "ID does not begin with msg_ or test_: it is another header"}},
		"a body of another length": {shown{secret, id, stamp, text, strings.Replace(body, "Zoë", "Zoe", 1), "46"},
			[]string{nothing, "the body has 45 bytes, and 46 were sent: it was changed on its way"}},
		"the length that was sent": {shown{secret, id, stamp, text, body, "46"}, []string{verifies}},
		"a line break of Windows": {shown{secret, id, stamp, text, body + "\r\n", ""},
			[]string{"verifies, without the line break at its end," + under}},
		"a byte order mark": {shown{secret, id, stamp, text, "\ufeff" + body, ""},
			[]string{"verifies, without the byte order mark at its beginning," + under, encoded}},
		"Latin-1": {shown{secret, id, stamp, text, strings.Replace(body, "ë", "\xeb", 1), ""},
			[]string{"verifies, converted from Latin-1 to UTF-8," + under}},
		"UTF-8 twice": {shown{secret, id, stamp, text, strings.Replace(body, "ë", "\u00c3\u00ab", 1), ""},
			[]string{"verifies, converted from UTF-8 to Latin-1," + under}},
		"a compressed body": {shown{secret, id, stamp, text, compressed(t, body), ""},
			[]string{"verifies, uncompressed," + under, encoded}},
		"no body": {shown{secret, id, stamp, text, "", "46"}, []string{nothing,
			"the body has 0 bytes, and 46 were sent: it was changed on its way", encoded}},
		"apostrophes around a secret": {shown{"'" + secret + "'", id, stamp, text, body, ""},
			[]string{"SECRET" + quoted, verifies}},
		"a header's line break": {shown{secret, id + "\r", stamp + "\r", " " + text, body, ""},
			[]string{"ID" + quoted, "TIMESTAMP" + quoted, "SIGNATURE" + quoted, verifies}},
		"a file name for a signature": {shown{secret, id, stamp, "*", body, ""},
			[]string{nothing, "* does not begin with v1, or v1a,"}},
		"a line break": {shown{secret, id, stamp, text, body + "\n", ""},
			[]string{"verifies, without the line break at its end," + under}},
		"a body in Base64": {shown{secret, id, stamp, text, base64.StdEncoding.EncodeToString([]byte(body)), ""}, []string{
			"verifies, decoded from Base64," + under,
			encoded}},
		"a line break in a secret": {shown{secret + "\n", id, stamp, text, body, ""},
			[]string{"SECRET" + quoted, verifies}},
		"quotes around a secret": {shown{`"` + secret + `"`, id, stamp, text, body, ""},
			[]string{"SECRET" + quoted, verifies}},
		"a secret without whsec_": {shown{strings.TrimPrefix(secret, "whsec_"), id, stamp, text, body, ""},
			[]string{nothing, "the secret has 44 characters; Herald's have 50, imported ones others"}},
		"a key without whsec_": {shown{secret, id, stamp, bare, body, ""},
			[]string{"verifies under the text without whsec_, which is no signature of Herald's"}},
		"an imported secret": {shown{imported, id, stamp, signature.Sign(imported, id, now, []byte(body)), body, ""},
			[]string{verifies, "the secret has 28 characters; Herald's have 50, imported ones others"}},
		"hexadecimal": {shown{secret, id, stamp, "v1,00ff", body, ""},
			[]string{nothing, "v1,00ff has 7 characters; v1, and the Base64 of a signature have 47"}},
		"no version": {shown{secret, id, stamp, strings.TrimPrefix(text, "v1,"), body, ""},
			[]string{nothing, strings.TrimPrefix(text, "v1,") + " does not begin with v1, or v1a,"}},
		"milliseconds": {shown{secret, id, stamp + "000", text, body, ""},
			[]string{nothing, "the timestamp is in milliseconds; the header has seconds"}},
		"no number": {shown{secret, id, "Thu, 26 Nov 2026", text, body, ""}, []string{nothing, "the timestamp is no number"}},
		"a test that was changed": {shown{secret, "test_1", stamp, signed(test), `{"type":"herald.test"}`, ""},
			[]string{"this test had the body " + test + ": yours was changed on its way"}},
		"a test under another secret": {shown{signature.NewSecret(), "test_1", stamp, signed(test), test, ""},
			[]string{"the body is that of a test: the secret is another one, or ID and TIMESTAMP are"}},
		"a test of a type": {shown{secret, "test_1", stamp, signed(body), body, ""}, []string{verifies}},
		"a test of a type that was changed": {shown{secret, "test_1", stamp, signed(body), `{"type":"user.created"}`, ""},
			[]string{nothing}},
		"a test": {shown{secret, "test_1", stamp, signed(test), test, ""},
			[]string{verifies}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(row.want, row.given.check(t)); diff != "" {
				t.Errorf("check.sh says (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("an old request", func(t *testing.T) {
		sent := now - 600
		given := shown{secret, id, strconv.FormatInt(sent, 10), signature.Sign(secret, id, sent, []byte(body)), body, ""}
		for secret, first := range map[string]string{secret: verifies, signature.NewSecret(): nothing} {
			given.secret = secret
			lines := given.check(t)
			if len(lines) != 2 || lines[0] != first || !strings.HasPrefix(lines[1], "by this clock the request is 6") {
				t.Errorf("check.sh says %q", lines)
			}
		}
	})
}

// What the product takes as a secret, check.sh reads as the product does, whatever its form.
func TestCheck_readsEverySecretAsHeraldDoes(t *testing.T) {
	const under, body = "verifies under the ", `{"type":"user.created","data":{}}`
	now := time.Now().Unix()
	for name, secret := range secrets() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := signature.CheckImported(secret); err != nil {
				t.Fatalf("%q: %v", secret, err)
			}
			text := signature.Sign(secret, "msg_1", now, []byte(body))
			decoded := signature.SignDecoded(secret, "msg_1", now, []byte(body))
			want := map[string]string{decoded: under + "decoded secret"}
			want[text] = under + "whole text" // of a secret with one reading, both signatures are this one
			for signed, begins := range want {
				given := shown{secret, "msg_1", strconv.FormatInt(now, 10), signed, body, ""}
				if lines := given.check(t); !strings.Contains("\n"+strings.Join(lines, "\n"), "\n"+begins) {
					t.Errorf("%s, %s: check.sh says %q", secret, signed, lines)
				}
			}
		})
	}
}

// secrets are other senders' secrets by their form.
func secrets() map[string]string {
	random := rand.NewChaCha8([32]byte{1})
	all := map[string]string{
		"quotes around it": `"0a8f2b1c4d5e4f6a"`, "apostrophes around it": `'0a8f2b1c4d5e4f6a'`,
		"one quote": `0a8f2b1c4d5e4f6a"`, "marks of a shell": "$(id) `id` \\t%s;&*?[a]",
		"a sign first": "-n 0a8f2b1c4d5e4f6a", "letters": "the literal text of a key", "Cyrillic": "ключ чужого",
		"a UUID": "0a8f2b1c-4d5e-4f6a-8b7c-9d0e1f2a3b4c", "another's": "sk_live_0a8f2b1c4d5e4f6a",
		"too much padding": "0a8f2b1c4d5e4f6a==", "words": "whsec whsec_ of a sender", "signs": "whsk_-_-_0a8f2b1c4d5e4f6a",
	}
	for _, size := range []int{16, 17, 18, 20, 24, 25, 32, 33, 64, 65, 760, 1024} {
		raw := make([]byte, size)
		_, _ = random.Read(raw)
		encoded := base64.RawStdEncoding.EncodeToString(raw)
		padding := strings.Repeat("=", (4-len(encoded)%4)%4)
		behind := encoded[:len(encoded)-1] + string(encoded[len(encoded)-1]+1) // its last bits are behind the key
		for form, text := range map[string]string{
			"": encoded + padding, " without padding": encoded, " with more padding": encoded + "====",
			" with bits behind it": behind + padding,
		} {
			if strings.Contains(form, "bits") && padding == "" {
				continue
			}
			all[strconv.Itoa(size)+" bytes"+form] = signature.Prefix + text
			if len(text) <= 1024 {
				all[strconv.Itoa(size)+" bytes without the prefix"+form] = text
			}
		}
		if size <= 512 {
			all[strconv.Itoa(size)+" bytes in hexadecimal"] = hex.EncodeToString(raw)
		}
	}
	return all
}

// A header that the code did not get is named, and nothing is computed without it.
func TestCheck_namesWhatIsMissing(t *testing.T) {
	whole := shown{"whsec_YQ==", "msg_1", "1764000000", "v1,YQ==", "{}", ""}
	for name, without := range map[string]func(*shown){
		"SECRET": func(s *shown) { s.secret = "" }, "ID": func(s *shown) { s.id = " " },
		"TIMESTAMP": func(s *shown) { s.timestamp = "\r" }, "SIGNATURE": func(s *shown) { s.signature = `""` },
	} {
		given := whole
		without(&given)
		lines, err := given.run(t)
		want := name + " is empty: your code did not get it, or not under this name"
		if code := new(exec.ExitError); !errors.As(err, &code) || code.ExitCode() != 2 || lines[len(lines)-1] != want {
			t.Errorf("check.sh says %q, %v", lines, err)
		}
	}
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// check is what check.sh says about a request that has all it needs.
func (s shown) check(t *testing.T) []string {
	t.Helper()
	lines, err := s.run(t)
	if err != nil {
		t.Fatalf("%v\n%s", err, lines)
	}
	return lines
}

// run runs check.sh, and returns the lines of its output.
func (s shown) run(t *testing.T) ([]string, error) {
	t.Helper()
	folder := t.TempDir()
	body := filepath.Join(folder, "body.bin")
	if err := os.WriteFile(body, []byte(s.body), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "check.sh", body)
	cmd.Env = append(os.Environ(), "SECRET="+s.secret, "ID="+s.id, "TIMESTAMP="+s.timestamp, "SIGNATURE="+s.signature,
		"LENGTH="+s.length, "TMPDIR="+folder)
	out, err := cmd.CombinedOutput()
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("left %v: %v", left, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), err
}
