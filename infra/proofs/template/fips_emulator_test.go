//go:build emulator

package template

import "testing"

// An environment that says nothing of FIPS is the one that each function has had before.
func TestFunctionsCallFIPSEndpointsWhereAParameterSaysSo(t *testing.T) {
	for _, row := range []struct {
		parameters []string
		want       any
	}{
		{nil, nil}, {[]string{"FipsEndpoints=no"}, nil}, {[]string{"FipsEndpoints=yes"}, "true"},
	} {
		functions := 0
		for id, r := range translated(t, row.parameters...).Resources {
			if r.Type != "AWS::Lambda::Function" {
				continue
			}
			functions++
			variables := at(r.Properties, "Environment", "Variables")
			if got := variables["AWS_USE_FIPS_ENDPOINT"]; got != row.want || variables["STAGE"] == nil {
				t.Errorf("%v: %s has AWS_USE_FIPS_ENDPOINT=%v, want %v", row.parameters, id, got, row.want)
			}
		}
		if functions != 9 {
			t.Errorf("%d functions", functions)
		}
	}
}
