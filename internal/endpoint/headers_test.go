package endpoint

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeader_checks(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "X-Api-Key": true, "cookie": true, "x~y": true, strings.Repeat("x", 64): true,
		"": false, "X Y": false, "X:": false, "Zoë": false, "X\r\nY": false, strings.Repeat("x", 65): false,
		"Wh-Id": false, "WH-Anything": false, "Content-Type": false, "Content-Encoding": false, "Host": false,
		"User-Agent": false, "Connection": false, "Keep-Alive": false, "TE": false, "Trailer": false,
		"Transfer-Encoding": false, "Upgrade": false, "Proxy-Authorization": false, "Expect": false,
	} {
		if err := (Header{Name: name}).CheckName(); (err == nil) != want {
			t.Errorf("name %q: %v", name, err)
		}
	}
	for value, want := range map[string]bool{
		"Bearer abc": true, "~!:=": true, "": false, " x": false, "x ": false, "x\r\nWh-Id: y": false, "x\n": false,
		"x\ty": false, "é": false, "x\x00": false,
	} {
		if err := (Header{Value: value}).CheckValue(); (err == nil) != want {
			t.Errorf("value %q: %v", value, err)
		}
	}
}

func TestHeadersAreReadAsTheyWereWritten(t *testing.T) {
	want := []Header{{"Authorization", "Basic a:b="}, {"x-y", ":"}}
	got, err := DecodeHeaders(EncodeHeaders(want))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"x", "Host:y\n", "x:\n", "x:y\r\n"} {
		if got, err := DecodeHeaders(text); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
