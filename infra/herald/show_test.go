package main

import "testing"

func TestShow_keepsBodiesReadable(t *testing.T) {
	f := &fake{answers: map[string]string{"inspect dead_letter": `{"body":"{\r\n\t\"a\": \"\u001b[2J\"\n}",
		"history":[{"attempts":6,"reason":"http_\u001b5xx"},{"attempts":1}],"scopes":["a","b"]}`}}
	f.ends(t, exitDone, "dead show msg_1", `body     {\r\n\t"a": "`+"\uFFFD"+`[2J"\n}`+"\n",
		`history  {"attempts":6,"reason":"http_\u001b5xx"}, {"attempts":1}`+"\n", "scopes   a, b\n")
}
