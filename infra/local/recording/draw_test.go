package main

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRead_keepsTheTimesAndPassesTheLinesOn(t *testing.T) {
	now := time.Unix(0, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	var shown strings.Builder
	lines, err := read(strings.NewReader("one\ntwo\n"), &shown, clock)
	if want := []line{{"one", time.Second}, {"two", time.Second}}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v, %v, want %v", lines, err, want)
	}
	if shown.String() != "one\ntwo\n" {
		t.Errorf("it passes on %q", shown.String())
	}
	if _, err := read(strings.NewReader(""), &shown, clock); err == nil {
		t.Error("nothing was recorded, and nothing says so")
	}
}

// Code hosts show an SVG as an image: well-formed, without scripts and without anything that is fetched.
func TestDraw_isAnImageOfItsOwn(t *testing.T) {
	long := strings.Repeat("x", 200)
	picture := string(draw("make <run>", []line{{"── <head>", 0}, {"  ✓ held", time.Hour}, {long, 0}}, "cG5n"))
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if element.Name.Local == "script" {
			t.Error("it has a script")
		}
		for _, a := range element.Attr {
			if a.Name.Local == "href" && a.Value != "data:image/png;base64,cG5n" {
				t.Errorf("it fetches %s", a.Value)
			}
		}
	}
	for _, part := range []string{
		"$ make &lt;run&gt;", `<text class="head"`, `<text class="holds"`, strings.Repeat("x", columns-1) + "…</text>",
		"animation:lines 13.8s", // an hour's wait is shortened
	} {
		if !strings.Contains(picture, part) {
			t.Errorf("it lacks %q", part)
		}
	}
	if strings.Contains(picture, long) {
		t.Error("a line is wider than the picture")
	}
}
