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
	_, out, words := f.play(t, "", "rejected", "list")
	table := strings.Join(strings.Fields(out), " ")
	const want = "m1 acme user.\uFFFDrenamed – type: is not an implemented event no – – " +
		"m2 – – – not_processed yes"
	const next = "next: herald rejected publish --reason not_processed --watch\n"
	if !strings.Contains(table, want) || !strings.Contains(words, next) {
		t.Errorf("%s%s", out, words)
	}
	if _, out, _ = f.play(t, "", "-o", "json", "rejected", "list"); !strings.Contains(out, "the nearest are") {
		t.Errorf("shortened in JSON, too: %s", out)
	}
}
