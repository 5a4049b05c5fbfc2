package main

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
)

func (a *app) code() *cli.Command {
	return &cli.Command{
		Name: "code", Usage: "compare the functions' code with a package's SHA256SUMS", ArgsUsage: "FILE",
		Description: "Lambda computes the digests. It needs lambda:GetFunctionConfiguration.",
		Action: a.on(func(ctx context.Context, c *cli.Command, s stack, f fields) error {
			if c.Bool("local") {
				return fail(exitUsage, "the local stack runs no packages")
			}
			sums, err := a.read(cellOf(f, "file"))
			if err != nil {
				return err
			}
			return a.compareCode(ctx, s, sums, isJSON(c))
		}),
	}
}

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
		parts := sumLine.FindSubmatch(bytes.TrimRight(line, "\r\n"))
		if parts == nil {
			return nil, fail(exitUsage, "line %d is no line of SHA256SUMS", number)
		}
		archive := archiveName.FindSubmatch(parts[2])
		if archive == nil {
			continue
		}
		function := string(archive[1])
		if digests[function] != "" {
			return nil, fail(exitUsage, "line %d: there are two archives of %s", number, function)
		}
		digests[function] = strings.ToLower(string(parts[1]))
	}
	if len(digests) == 0 {
		return nil, fail(exitUsage, "the file has no archive of a function")
	}
	return digests, nil
}

// compareCode compares what Lambda runs with the archives of a package: every function, and what is behind its alias.
func (a *app) compareCode(ctx context.Context, s stack, sums []byte, asJSON bool) error {
	digests, err := released(sums)
	if err != nil {
		return err
	}
	aliases, err := s.aliases(digests)
	if err != nil {
		return err
	}
	client, different := lambda.NewFromConfig(s.aws), 0
	rows := []row{}
	for _, function := range slices.Sorted(maps.Keys(digests)) {
		name := s.name + "-" + function
		for _, version := range append([]string{"$LATEST", "live"}, aliases[name]...) { // live is of gradual updates
			runs, err := digestOf(ctx, client, name, version)
			if gone := new(types.ResourceNotFoundException); errors.As(err, &gone) && version == "live" {
				continue
			}
			if err != nil {
				return s.explain("looking at the code of "+function, err)
			}
			verdict := "as released"
			if runs != digests[function] {
				verdict = "DIFFERENT"
				different++
			}
			rows = append(rows, row{"function": function, "version": version, "code": verdict, "sha256": runs})
		}
	}
	if asJSON {
		a.printJSON(rows)
	} else {
		a.table(rows, "function", "version", "code")
	}
	if different > 0 {
		return fail(exitUnhealthy, "%d of %d are not what the package has", different, len(rows))
	}
	return nil
}

// aliases are those that outputs name, by the names of their functions. Every other function has to have an archive.
func (s stack) aliases(digests map[string]string) (map[string][]string, error) {
	aliases := map[string][]string{}
	for _, function := range slices.Sorted(maps.Keys(s.functions)) {
		name, alias, isAlias := strings.Cut(s.functions[function], ":")
		if isAlias {
			aliases[name] = append(aliases[name], alias)
		} else if digests[function] == "" {
			return nil, fail(exitFailed, "the package has no archive of %s", function)
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
