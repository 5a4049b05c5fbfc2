package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// unmade are the types of resources that the engine cannot make: saved queries, and functions' policies, to which its
// calls are not subject.
var unmade = []string{"AWS::Logs::QueryDefinition", "AWS::Lambda::ResourcePolicy"}

// reduce rewrites a packaged template for the engine: it leaves out resources of the types that the engine cannot make,
// and keeps the first metric of an alarm on several.
func reduce(text []byte) ([]byte, error) {
	root, err := cfn.Parse(text)
	if err != nil {
		return nil, err
	}
	resources := cfn.Child(root, "Resources")
	if resources == nil {
		return nil, errors.New("the template has no Resources")
	}
	var kept []*yaml.Node
	for pair := range slices.Chunk(resources.Content, 2) {
		switch kind := cfn.Child(pair[1], "Type"); {
		case kind == nil:
			return nil, fmt.Errorf("%s has no type", pair[0].Value)
		case slices.Contains(unmade, kind.Value):
			continue
		case kind.Value == "AWS::CloudWatch::Alarm":
			if err := reduceAlarm(cfn.Child(pair[1], "Properties")); err != nil {
				return nil, fmt.Errorf("%s: %w", pair[0].Value, err)
			}
		}
		kept = append(kept, pair...)
	}
	resources.Content = kept
	return cfn.Write(root)
}

// reduceAlarm puts the first metric of an alarm in the place of all.
func reduceAlarm(properties *yaml.Node) error {
	for i := 0; i < len(properties.Content); i += 2 {
		if properties.Content[i].Value != "Metrics" {
			continue
		}
		first, err := firstMetric(properties.Content[i+1])
		if err != nil {
			return err
		}
		properties.Content = slices.Replace(properties.Content, i, i+2, first...)
		return nil
	}
	return nil
}

// firstMetric are the properties of an alarm on the first metric of a list.
func firstMetric(metrics *yaml.Node) ([]*yaml.Node, error) {
	for _, metric := range metrics.Content {
		stat := cfn.Child(metric, "MetricStat")
		if stat == nil {
			continue
		}
		named := []*yaml.Node{{Kind: yaml.ScalarNode, Value: "Statistic"}, cfn.Child(stat, "Stat")}
		named = append(named, &yaml.Node{Kind: yaml.ScalarNode, Value: "Period"}, cfn.Child(stat, "Period"))
		named = append(named, cfn.Child(stat, "Metric").Content...)
		if slices.Contains(named, nil) {
			return nil, errors.New("its first metric lacks a statistic or a period")
		}
		return named, nil
	}
	return nil, errors.New("it has no metric")
}

// difference are the changed lines of two files.
func difference(ctx context.Context, before, after string) (string, error) {
	options := []string{"diff", "--no-index", "--no-color", "--unified=0", before, after}
	cmd := exec.CommandContext(ctx, "git", options...) //nolint:gosec // two files of this rehearsal
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: they differ
		return "", fmt.Errorf("comparing the templates: %w", err)
	}
	return string(out), nil
}

// reduceFile reduces the template of a folder, and returns the difference.
func reduceFile(ctx context.Context, file string) (string, error) {
	text, err := os.ReadFile(file) //nolint:gosec // of the package that is rehearsed
	if err != nil {
		return "", fmt.Errorf("reading the template: %w", err)
	}
	reduced, err := reduce(text)
	if err != nil {
		return "", err
	}
	whole := filepath.Join(filepath.Dir(filepath.Dir(file)), "packaged.yaml")
	err = errors.Join(os.WriteFile(whole, text, 0o600), os.WriteFile(file, reduced, 0o600)) //nolint:gosec // likewise
	if err != nil {
		return "", fmt.Errorf("writing the template: %w", err)
	}
	return difference(ctx, whole, file)
}
