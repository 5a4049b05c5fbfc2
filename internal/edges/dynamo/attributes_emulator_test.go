//go:build emulator

package dynamo_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// An attribute that no file has could get another name, and nobody would notice.
func TestFormats_haveEveryAttribute(t *testing.T) {
	corpora := map[reflect.Type]string{}
	for name, f := range formats() {
		corpus, err := os.ReadFile(filepath.Join("testdata", "formats", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		corpora[reflect.TypeOf(f.want)] += string(corpus)
	}
	for stored, corpus := range corpora {
		for _, name := range attributesOf(stored) {
			if !strings.Contains(corpus, `"`+name+`": {`) {
				t.Errorf("%s: no file has %s", stored, name)
			}
		}
	}
}

// attributesOf are the names in the tags of a type and of its parts.
func attributesOf(stored reflect.Type) (names []string) {
	switch stored.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return attributesOf(stored.Elem())
	case reflect.Struct:
	default:
		return nil
	}
	for _, field := range reflect.VisibleFields(stored) {
		name, _, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		if name == "-" || name == "" {
			continue
		}
		names = append(append(names, name), attributesOf(field.Type)...)
	}
	return names
}
