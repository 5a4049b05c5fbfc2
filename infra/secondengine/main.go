// Command secondengine is `make second-engine`: it runs the tests that use DynamoDB twice, on moto and on DynamoDB
// Local, AWS's own emulator, and compares them case by case.
//
// It promises to fail where a case fails on moto, where one fails on DynamoDB Local that is not among the known
// differences, and where a known difference is none any more. It changes nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/herald-webhooks/herald/internal/testkit"
	"github.com/herald-webhooks/herald/internal/testkit/emulator"
)

// packages have tests that use DynamoDB over the wire, on tables of their own.
var packages = []string{
	"./internal/dynamo", "./internal/testkit", "./infra/cost", "./infra/restore", "./internal/handler/control",
	"./internal/handler/inspect", "./internal/handler/release", "./internal/handler/replay", "./internal/handler/webhooks",
}

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "second-engine:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, chosen []string) error {
	if len(chosen) == 0 {
		chosen = packages
	}
	folder := filepath.Join(".local", "second-engine")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("making folder: %w", err)
	}
	second, err := emulator.StartDynamoDBLocal(ctx, emulator.Options{LogFile: filepath.Join(folder, "dynamodb-local.log")})
	if err != nil {
		return err //nolint:wrapcheck // it says what is missing
	}
	defer second.Close()
	fmt.Fprintln(os.Stderr, "second-engine: running the tests on moto")
	onMoto, err := runTests(ctx, chosen, filepath.Join(folder, "moto.txt"))
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "second-engine: running the tests on DynamoDB Local")
	onSecond, err := runTests(ctx, chosen, filepath.Join(folder, "dynamodb-local.txt"),
		testkit.SecondEngine+"="+second.URL.String())
	if err != nil {
		return err
	}
	faults := compare(os.Stdout, onMoto, onSecond, among(chosen, differences))
	if faults > 0 {
		return fmt.Errorf("%d cases are not as expected; %s has what the tests said", faults, folder)
	}
	if len(onMoto) == 0 {
		return errors.New("there are no tests")
	}
	return nil
}

// among are the differences of the packages.
func among(packages []string, all map[string]string) map[string]string {
	of := map[string]string{}
	for name, why := range all {
		if pkg, _, _ := strings.Cut(name, " "); slices.Contains(packages, "./"+pkg) {
			of[name] = why
		}
	}
	return of
}
