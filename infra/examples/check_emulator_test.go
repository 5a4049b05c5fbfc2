//go:build emulator

package examples_test

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/signature"
)

// shown is a delivery as a receiver's developer gives it to check.sh.
type shown struct{ secret, id, timestamp, signature, body string }

// Each mistake that a developer makes has its answer.
func TestCheck_saysWhyADeliveryDidNotVerify(t *testing.T) {
	const id, body, test = "msg_1", `{"type":"user.created","data":{"name":"Zoë"}}`, `{"type":"herald.test","data":{}}`
	const nothing = "nothing fits: the secret is another one, or the body was parsed and written again"
	secret, now := signature.NewSecret(), time.Now().Unix()
	stamp := strconv.FormatInt(now, 10)
	text, decoded := signature.Sign(secret, id, now, []byte(body)), signature.SignDecoded(secret, id, now, []byte(body))
	bare := signature.Sign(strings.TrimPrefix(secret, "whsec_"), id, now, []byte(body))
	other := signature.SignDecoded(signature.NewSecret(), id, now, []byte(body))
	const verifies, again = "verifies under the whole text of the secret, as wh-signature does", " as wh-signature does"
	const library = "verifies under the decoded secret, as webhook-signature does"
	imported := "an imported secret of theirs"
	for name, row := range map[string]struct {
		given shown
		want  []string
	}{
		"nothing":          {shown{secret, id, stamp, text, body}, []string{verifies}},
		"a library's":      {shown{secret, id, stamp, decoded, body}, []string{library}},
		"a rotation's":     {shown{secret, id, stamp, other + " " + decoded + " v1a,YQ==", body}, []string{library}},
		"another secret":   {shown{signature.NewSecret(), id, stamp, text, body}, []string{nothing}},
		"a parsed body":    {shown{secret, id, stamp, text, strings.Replace(body, "ë", `\u00eb`, 1)}, []string{nothing}},
		"spaces in a body": {shown{secret, id, stamp, text, strings.ReplaceAll(body, ":", ": ")}, []string{nothing}},
		"another id":       {shown{secret, "msg_2", stamp, text, body}, []string{nothing}},
		"a line break": {shown{secret, id, stamp, text, body + "\n"},
			[]string{"verifies, without the line break at its end, under the whole text of the secret," + again}},
		"a body in Base64": {shown{secret, id, stamp, text, base64.StdEncoding.EncodeToString([]byte(body))}, []string{
			"verifies, decoded from Base64, under the whole text of the secret," + again,
			"the body does not begin with {: it is encoded, compressed, or no body"}},
		"a line break in a secret": {shown{secret + "\n", id, stamp, text, body},
			[]string{"SECRET has white space or quotes around it", verifies}},
		"quotes around a secret": {shown{`"` + secret + `"`, id, stamp, text, body},
			[]string{"SECRET has white space or quotes around it", verifies}},
		"a secret without whsec_": {shown{strings.TrimPrefix(secret, "whsec_"), id, stamp, text, body},
			[]string{"the secret has 44 characters; Herald's have 50, imported ones others"}},
		"a key without whsec_": {shown{secret, id, stamp, bare, body},
			[]string{"verifies under the text without whsec_, which is no signature of Herald's"}},
		"an imported secret": {shown{imported, id, stamp, signature.Sign(imported, id, now, []byte(body)), body},
			[]string{verifies, "the secret has 28 characters; Herald's have 50, imported ones others"}},
		"hexadecimal": {shown{secret, id, stamp, "v1,00ff", body},
			[]string{"v1,00ff has 7 characters; v1, and the Base64 of a signature have 47"}},
		"no version": {shown{secret, id, stamp, strings.TrimPrefix(text, "v1,"), body},
			[]string{strings.TrimPrefix(text, "v1,") + " does not begin with v1, or v1a,"}},
		"milliseconds": {shown{secret, id, stamp + "000", text, body},
			[]string{"the timestamp is in milliseconds; the header has seconds"}},
		"no number": {shown{secret, id, "Thu, 26 Nov 2026", text, body}, []string{"the timestamp is no number"}},
		"a test that was changed": {shown{secret, "test_1", stamp, signature.Sign(secret, "test_1", now, []byte(test)),
			`{"type":"herald.test"}`}, []string{"a test has the body " + test + " and no other: yours was changed on its way"}},
		"a test": {shown{secret, "test_1", stamp, signature.Sign(secret, "test_1", now, []byte(test)), test},
			[]string{verifies}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, row.given.check(t)); diff != "" {
				t.Errorf("check.sh says (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("an old request", func(t *testing.T) {
		sent := now - 600
		given := shown{secret, id, strconv.FormatInt(sent, 10), signature.Sign(secret, id, sent, []byte(body)), body}
		lines := given.check(t)
		if len(lines) != 2 || lines[0] != verifies || !strings.HasPrefix(lines[1], "by this clock the request is 6") {
			t.Errorf("check.sh says %q", lines)
		}
	})
}

// check runs check.sh, and returns the lines of its output.
func (s shown) check(t *testing.T) []string {
	t.Helper()
	body := filepath.Join(t.TempDir(), "body.bin")
	if err := os.WriteFile(body, []byte(s.body), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "check.sh", body)
	cmd.Env = append(os.Environ(), "SECRET="+s.secret, "ID="+s.id, "TIMESTAMP="+s.timestamp, "SIGNATURE="+s.signature)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left, err := filepath.Glob(body + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left %v: %v", left, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
