package main

import (
	"strings"
	"testing"
)

func TestRejected_listSaysWhoseAndWhatCanSucceed(t *testing.T) {
	f := &fake{answers: map[string]string{"inspect rejected_events": `{"data":[
		{"message_id":"m1","reason":"invalid event: type: is not an implemented event; the nearest are user.created",
			"body":"{\"tenant_id\":\"acme\",\"type\":\"user.\\u001brenamed\"}"},
		{"message_id":"m2","reason":"not_processed","body":"<html>"}],"next_cursor":null}`}}
	out := f.ends(t, exitDone, "rejected list", "next: herald rejected publish --reason not_processed --watch\n")
	const want = "m1 acme user.\uFFFDrenamed – type: is not an implemented event no – – " +
		"m2 – – – not_processed yes"
	contains(t, strings.Join(strings.Fields(out), " "), want)
	f.ends(t, exitDone, "-o json rejected list", "the nearest are") // not shortened
}
