package gotypes_test

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/install/catalogue/gotypes"
	"github.com/herald-webhooks/herald/internal/rules/event/catalogue"
)

const program = `package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"time"

	%IMPORTS%
)

// fill gives every part of a value a value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for n := 0; n < v.NumField(); n++ {
			fill(v.Field(n))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		of := reflect.New(v.Type().Elem()).Elem()
		fill(of)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("a key < \xff"), of)
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	case reflect.String:
		v.SetString("user_<1>")
		if v.Type() == reflect.TypeOf(json.Number("")) {
			v.SetString("12.90")
		}
	case reflect.Int64:
		v.SetInt(math.MinInt64)
	case reflect.Float64:
		v.SetFloat(1e300)
	case reflect.Bool:
		v.SetBool(true)
	}
}

func filled[T any]() (v T) {
	fill(reflect.ValueOf(&v).Elem())
	return v
}

var at = time.Date(2026, 11, 28, 12, 0, 0, 1, time.FixedZone("", 3600))

func show(body string, err error) {
	if err != nil {
		body = "error: " + err.Error()
	}
	fmt.Fprintln(os.Stdout, body)
}

func main() {
	%BODY%
}
`

// run compiles packages of these types in a module of its own, and returns the output of a program with this body.
func run(t *testing.T, packages map[string][]catalogue.Type, body ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	var imports strings.Builder
	for name, types := range packages {
		for file, text := range source(t, name, types) {
			write(t, filepath.Join(dir, name, file), string(text))
		}
		imports.WriteString("\"adopter/" + name + "\"\n")
	}
	write(t, filepath.Join(dir, "go.mod"), "module adopter\n\ngo 1.21\n")
	text := strings.NewReplacer("%IMPORTS%", imports.String(), "%BODY%", strings.Join(body, "\n")).Replace(program)
	write(t, filepath.Join(dir, "main.go"), text)
	cmd := exec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func source(t *testing.T, name string, types []catalogue.Type) map[string][]byte {
	t.Helper()
	files, err := gotypes.Source(name, types)
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		if formatted, err := format.Source(text); err != nil || !bytes.Equal(formatted, text) {
			t.Errorf("%s of %s is not as gofmt has it: %v", file, name, err)
		}
		if !bytes.HasPrefix(text, []byte(gotypes.Mark)) {
			t.Errorf("%s of %s has not the mark by which it may be written again", file, name)
		}
	}
	return files
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var declared = regexp.MustCompile(`func \((\w+)\) eventType\(\)`)

// messages are statements that show a message of each type of a package, empty or filled.
func messages(t *testing.T, name string, types []catalogue.Type, data string) (statements []string) {
	t.Helper()
	for _, found := range declared.FindAllStringSubmatch(string(source(t, name, types)["types.go"]), -1) {
		statements = append(statements, "show("+name+".Message{ID: `e \"1`, TenantID: `t`, OccurredAt: at, Data: "+
			strings.ReplaceAll(data, "T", name+"."+found[1])+"}.Encode())")
	}
	if len(statements) != len(types) {
		t.Errorf("%d types of %d", len(statements), len(types))
	}
	return statements
}
