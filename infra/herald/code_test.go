package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
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
		"the package's":             {same, sums, exitDone, []string{"deliver", "inspect", "as released"}},
		"as sha256sum --binary":     {same, strings.ReplaceAll(sums, "  ", " *"), exitDone, []string{"as released"}},
		"the alias's, too":          {with("h-deliver:live", "d"), sums, exitDone, []string{"live"}},
		"another archive":           {with("h-deliver", "evil"), sums, exitUnhealthy, []string{"DIFFERENT", "1 of 3"}},
		"another behind the alias":  {with("h-deliver:live", "old"), sums, exitUnhealthy, []string{"DIFFERENT", "1 of 4"}},
		"no such function":          {deployed{"h-deliver": "d"}, sums, exitFailed, []string{"inspect"}},
		"a function without a sum":  {same, sumOf("d", "deliver-0a.zip"), exitFailed, []string{"inspect"}},
		"an alias of ours":          {same, sums, exitDone, []string{"delete", "as released"}},
		"another behind ours":       {with("h-inspect:delete", "old"), sums, exitUnhealthy, []string{"DIFFERENT", "1 of 3"}},
		"no archives":               {same, sumOf("tool", "herald_linux_amd64"), exitUsage, []string{"no archive"}},
		"no sums":                   {same, "<html>", exitUsage, []string{"line 1"}},
		"a sum of another length":   {same, sums + "0a  control-0c.zip\n", exitUsage, []string{"line 5"}},
		"one function, two sums":    {same, sums + sumOf("e", "deliver-0d.zip"), exitUsage, []string{"deliver"}},
		"an empty file":             {same, "", exitUsage, []string{"no archive"}},
		"a sum in capital letters":  {same, strings.ToUpper(sums[:64]) + sums[64:], exitDone, []string{"as released"}},
		"lines end as on Windows":   {same, strings.ReplaceAll(sums, "\n", "\r\n"), exitDone, []string{"as released"}},
		"a name that is no archive": {same, sums + sumOf("x", "notes-1.zip.txt"), exitDone, []string{"as released"}},
	} {
		var out, said bytes.Buffer
		a := &app{terminal: terminal{out: &out, err: &said}, now: time.Now}
		functions := map[string]string{"inspect": "h-inspect", "inspectdelete": "h-inspect:delete"} // as outputs name them
		s := stack{name: "h", functions: functions, aws: aws.Config{
			Region: "eu-central-1", HTTPClient: row.code, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		}}
		if exit := a.end(a.compareCode(t.Context(), s, []byte(row.sums), false)); exit != row.exit {
			t.Errorf("%s: exit code %d, want %d", name, exit, row.exit)
		}
		contains(t, out.String()+said.String(), row.says...)
	}
}
