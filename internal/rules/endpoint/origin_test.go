package endpoint

import "testing"

func TestOrigin_isOneForAllSpellingsOfAHostAndPort(t *testing.T) {
	for want, urls := range map[string][]string{
		"https://a.example:443": {
			"https://a.example", "https://a.example/h?q=1", "HTTPS://A.EXAMPLE/", "https://a.example:443/",
			"https://a.example.:0443/", "https://ａ.example/", "https://a。example/x:8443", "https://a.example/@b.example",
		},
		"https://a.example:8443":            {"https://a.example:8443/", "https://A.example.:08443"},
		"https://b.a.example:443":           {"https://b.a.example/"},
		"https://a.example.b:443":           {"https://a.example.b/"},
		"https://xn--bcher-kva.example:443": {"https://bücher.example/", "https://xn--BCHER-kva.example/"},
		"https://10.0.0.1:443":              {"https://10.0.0.1/", "https://１０.0.0.1./"},
		"https://[::1]:443":                 {"https://[::1]/", "https://[0:0::1]:443/"},
		"https://[::1]:9001":                {"https://[::1]:9001/x"},
		"": {
			"", "http://a.example/", "https://", "https://a.example:0/", "https://a.example:/", "https://localhost/",
			"https://b.example@a.example/", `https://b.example\@a.example/`, "https://a.example/#b.example", "a.example",
			"https://a.example\x00/", "https://[::1%25eth0]/", "https://a.example:443:8443/",
		},
	} {
		for _, raw := range urls {
			if got, err := Origin(raw); got != want || (err == nil) != (want != "") {
				t.Errorf("%q has the origin %q, %v, want %q", raw, got, err, want)
			}
		}
	}
}
