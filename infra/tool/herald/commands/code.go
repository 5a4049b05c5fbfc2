package commands

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/infra/tool/herald/exit"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
	"github.com/herald-webhooks/herald/infra/tool/herald/terminal"
	"github.com/herald-webhooks/herald/internal/operators/api"
)

// codeCommand is the command code.
func codeCommand(s setup) *cli.Command {
	c := command("code FILE", "compare the functions' code with a package's SHA256SUMS", s.on(compare))
	c.Description = "Lambda computes the digests. It needs lambda:GetFunctionConfiguration."
	return c
}

func compare(ctx context.Context, c call) error {
	if c.line.Bool("local") {
		return exit.With(exit.Usage, "the local stack runs no packages")
	}
	sums, err := c.ReadFile(c.fields.File)
	if err != nil {
		return err
	}
	digests, err := released(sums)
	if err != nil {
		return err
	}
	rows, err := compareCode(ctx, c.stack, digests)
	if err != nil {
		return err
	}
	terminal.Rows(c.Screen, api.List[codeRow]{Data: rows}, rows, codeColumns)
	different := 0
	for _, r := range rows {
		if r.Code != asReleased {
			different++
		}
	}
	if different > 0 {
		return exit.With(exit.Unhealthy, "%d of %d are not what the package has", different, len(rows))
	}
	return nil
}

// codeRow is a function, or what an alias of it runs.
type codeRow struct {
	Function string `json:"function"`
	Version  string `json:"version"`
	Code     string `json:"code"` // the verdict
	SHA256   string `json:"sha256"`
}

var codeColumns = []terminal.Column[codeRow]{
	{Head: "function", Of: func(r codeRow) any { return r.Function }},
	{Head: "version", Of: func(r codeRow) any { return r.Version }},
	{Head: "code", Of: func(r codeRow) any { return r.Code }},
}

// asReleased is the verdict of code that is the package's.
const asReleased = "as released"

// sumLine is a line of sha256sum: digest, two spaces or a space and an asterisk, name.
var (
	sumLine     = regexp.MustCompile(`^([0-9a-fA-F]{64}) [ *](\S+)$`)
	archiveName = regexp.MustCompile(`^([a-z]+)-[0-9a-f]+\.zip$`)
)

// released are the digests of a package's archives, by function.
func released(sums []byte) (map[string]string, error) {
	digests, number := map[string]string{}, 0
	for line := range bytes.Lines(sums) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		parts := sumLine.FindSubmatch(line)
		if parts == nil {
			return nil, exit.With(exit.Usage, "line %d is not a line of SHA256SUMS", number)
		}
		archive := archiveName.FindSubmatch(parts[2])
		if archive == nil {
			continue
		}
		function := string(archive[1])
		if digests[function] != "" {
			return nil, exit.With(exit.Usage, "line %d: there are two archives of %s", number, function)
		}
		digests[function] = strings.ToLower(string(parts[1]))
	}
	if len(digests) == 0 {
		return nil, exit.With(exit.Usage, "the file has no archive of a function")
	}
	return digests, nil
}

// compareCode compares the code that Lambda runs, also behind aliases, with the archives of a package.
func compareCode(ctx context.Context, s stack.Stack, digests map[string]string) ([]codeRow, error) {
	aliases, err := aliasesOf(s, digests)
	if err != nil {
		return nil, err
	}
	client, rows := lambda.NewFromConfig(s.AWS), []codeRow{}
	for _, function := range slices.Sorted(maps.Keys(digests)) {
		name := s.Name + "-" + function
		for _, version := range append([]string{"$LATEST", "live"}, aliases[name]...) { // live is of gradual updates
			runs, err := digestOf(ctx, client, name, version)
			if gone := new(types.ResourceNotFoundException); errors.As(err, &gone) && version == "live" {
				continue
			}
			if err != nil {
				return nil, s.Explain("looking at the code of "+function, err)
			}
			verdict := asReleased
			if runs != digests[function] {
				verdict = "DIFFERENT"
			}
			rows = append(rows, codeRow{function, version, verdict, runs})
		}
	}
	return rows, nil
}

// aliasesOf are those that outputs name, by the names of their functions. Every other function has to have an archive.
func aliasesOf(s stack.Stack, digests map[string]string) (map[string][]string, error) {
	aliases := map[string][]string{}
	for _, function := range slices.Sorted(maps.Keys(s.Functions)) {
		name, alias, isAlias := strings.Cut(s.Functions[function], ":")
		if isAlias {
			aliases[name] = append(aliases[name], alias)
		} else if digests[function] == "" {
			return nil, exit.With(exit.Failed, "the package has no archive of %s", function)
		}
	}
	return aliases, nil
}

// digestOf is the SHA-256 that Lambda has computed of a function's archive.
func digestOf(ctx context.Context, client *lambda.Client, name, version string) (string, error) {
	out, err := client.GetFunctionConfiguration(ctx,
		&lambda.GetFunctionConfigurationInput{FunctionName: &name, Qualifier: &version})
	if err != nil {
		return "", err
	}
	digest, err := base64.StdEncoding.DecodeString(aws.ToString(out.CodeSha256))
	return hex.EncodeToString(digest), err
}
