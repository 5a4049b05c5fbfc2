package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"
)

// unmade are the types of resources that the engine cannot make: saved queries, and functions' policies, to which its
// calls are not subject.
var unmade = []string{"AWS::Logs::QueryDefinition", "AWS::Lambda::ResourcePolicy"}

// reduce rewrites a packaged template for the engine: it leaves out resources of the types that the engine cannot make,
// and keeps the first metric of an alarm on several.
func reduce(text []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("reading the template: %w", err)
	}
	if len(document.Content) == 0 {
		return nil, errors.New("the template is empty")
	}
	resources := field(document.Content[0], "Resources")
	if resources == nil {
		return nil, errors.New("the template has no Resources")
	}
	var kept []*yaml.Node
	for pair := range slices.Chunk(resources.Content, 2) {
		switch kind := field(pair[1], "Type"); {
		case kind == nil:
			return nil, fmt.Errorf("%s has no type", pair[0].Value)
		case slices.Contains(unmade, kind.Value):
			continue
		case kind.Value == "AWS::CloudWatch::Alarm":
			if err := reduceAlarm(field(pair[1], "Properties")); err != nil {
				return nil, fmt.Errorf("%s: %w", pair[0].Value, err)
			}
		}
		kept = append(kept, pair...)
	}
	resources.Content = kept
	return encode(&document)
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
		stat := field(metric, "MetricStat")
		if stat == nil {
			continue
		}
		named := []*yaml.Node{{Kind: yaml.ScalarNode, Value: "Statistic"}, field(stat, "Stat")}
		named = append(named, &yaml.Node{Kind: yaml.ScalarNode, Value: "Period"}, field(stat, "Period"))
		named = append(named, field(stat, "Metric").Content...)
		if slices.Contains(named, nil) {
			return nil, errors.New("its first metric lacks a statistic or a period")
		}
		return named, nil
	}
	return nil, errors.New("it has no metric")
}

// field is the value under a key of a mapping, or nil.
func field(mapping *yaml.Node, key string) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	for pair := range slices.Chunk(mapping.Content, 2) {
		if pair[0].Value == key {
			return pair[1]
		}
	}
	return nil
}

// encode writes a template in the same style as make package. A comparison then shows only the reduced parts.
func encode(document *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(document), encoder.Close()); err != nil {
		return nil, fmt.Errorf("writing the template: %w", err)
	}
	return b.Bytes(), nil
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
