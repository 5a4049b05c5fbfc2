package commands

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
)

// deployed is Lambda: the code of functions by name, those behind an alias by NAME:ALIAS.
type deployed map[string]string

func (d deployed) Do(r *http.Request) (*http.Response, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/2015-03-31/functions/"), "/configuration")
	if q := r.URL.Query().Get("Qualifier"); q != "$LATEST" {
		name += ":" + q
	}
	code, found := d[name]
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}}
	sum := sha256.Sum256([]byte(code))
	text := fmt.Sprintf(`{"CodeSha256":%q}`, base64.StdEncoding.EncodeToString(sum[:]))
	if !found {
		resp.StatusCode, text = http.StatusNotFound, `{}`
		resp.Header.Set("X-Amzn-ErrorType", "ResourceNotFoundException")
	}
	resp.Body = io.NopCloser(strings.NewReader(text))
	return resp, nil
}

func sumOf(code, name string) string {
	return fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(code)), name)
}

// A writer of the bucket can exchange an archive between its upload and the deployment.
//
// Threat of the account: exchanges an archive of code. Held by: `herald code` compares the digests.
func TestCode_isComparedWithThePackage(t *testing.T) {
	sums := sumOf("d", "deliver-0a.zip") + sumOf("tool", "herald_linux_amd64") + sumOf("i", "inspect-0b.zip") +
		sumOf("", "template.yaml")
	same := deployed{"h-deliver": "d", "h-inspect": "i", "h-inspect:delete": "i"}
	with := func(name, code string) deployed {
		d := deployed{name: code}
		for other, text := range same {
			if other != name {
				d[other] = text
			}
		}
		return d
	}
	for name, row := range map[string]struct {
		code deployed
		sums string
		exit int
		says []string
	}{
		"the package's":             {same, sums, exit.Done, []string{"deliver", "inspect", "as released"}},
		"as sha256sum --binary":     {same, strings.ReplaceAll(sums, "  ", " *"), exit.Done, []string{"as released"}},
		"the alias's, too":          {with("h-deliver:live", "d"), sums, exit.Done, []string{"live"}},
		"another archive":           {with("h-deliver", "evil"), sums, exit.Unhealthy, []string{"DIFFERENT", "1 of 3"}},
		"another behind the alias":  {with("h-deliver:live", "old"), sums, exit.Unhealthy, []string{"DIFFERENT", "1 of 4"}},
		"no such function":          {deployed{"h-deliver": "d"}, sums, exit.Failed, []string{"inspect"}},
		"a function without a sum":  {same, sumOf("d", "deliver-0a.zip"), exit.Failed, []string{"inspect"}},
		"an alias of ours":          {same, sums, exit.Done, []string{"delete", "as released"}},
		"another behind ours":       {with("h-inspect:delete", "old"), sums, exit.Unhealthy, []string{"DIFFERENT", "1 of 3"}},
		"no archives":               {same, sumOf("tool", "herald_linux_amd64"), exit.Usage, []string{"no archive"}},
		"no sums":                   {same, "<html>", exit.Usage, []string{"line 1"}},
		"a sum of another length":   {same, sums + "0a  control-0c.zip\n", exit.Usage, []string{"line 5"}},
		"one function, two sums":    {same, sums + sumOf("e", "deliver-0d.zip"), exit.Usage, []string{"deliver"}},
		"an empty file":             {same, "", exit.Usage, []string{"no archive"}},
		"a sum in capital letters":  {same, strings.ToUpper(sums[:64]) + sums[64:], exit.Done, []string{"as released"}},
		"lines end as on Windows":   {same, strings.ReplaceAll(sums, "\n", "\r\n"), exit.Done, []string{"as released"}},
		"a name that is no archive": {same, sums + sumOf("x", "notes-1.zip.txt"), exit.Done, []string{"as released"}},
	} {
		var out, said bytes.Buffer
		on := &terminal.Terminal{In: strings.NewReader(row.sums), Out: &out, Err: &said, Now: clock}
		functions := map[string]string{"inspect": "h-inspect", "inspectdelete": "h-inspect:delete"} // as outputs name them
		connect := func(context.Context, stack.Where) (stack.Stack, error) {
			return stack.Stack{Name: "h", Functions: functions, AWS: aws.Config{
				Region: "eu-central-1", HTTPClient: row.code,
				Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
			}}, nil
		}
		if exit := Run(t.Context(), []string{"herald", "code", "-"}, on, connect); exit != row.exit {
			t.Errorf("%s: exit code %d, want %d", name, exit, row.exit)
		}
		contains(t, out.String()+said.String(), row.says...)
	}
}
