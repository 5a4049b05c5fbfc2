package main

import (
	"testing"
)

func TestRun_refusesAPortThatIsNone(t *testing.T) {
	for _, name := range []string{"API_PORT", "AWS_PORT", "MOTO_PORT"} {
		for _, value := range []string{"80x", "-1", "65536"} {
			t.Run(name+"="+value, func(t *testing.T) {
				t.Setenv(name, value)
				want := name + `: "` + value + `" is not a port: a number from 0 to 65535, where 0 takes a free one`
				if err := run(t.Context(), nil); err == nil || err.Error() != want {
					t.Errorf("%v, want %s", err, want)
				}
			})
		}
	}
}
