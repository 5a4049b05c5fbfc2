package runbook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGroups(t *testing.T) {
	const page = "# Page\n\n```sh\nherald status\nherald dead list\n```\n\n`inspect`:\n\n" +
		"```jsonl\n{\"action\":\"summary\"}\n{\"action\":\"dead_letters\"}\n```\n\nAnswer:\n\n" +
		"```json\n{\n  \"queues\": {}}\n```\n\n`inspect`:\n\n```json\n{\"action\":\"causes\"}\n```\n\nLikewise:\n\n" +
		"```json\n{\"data\":[]}\n```\n\nWords.\n\n```sh\necho 1\n```\n\n```sh\nherald dead purge msg_1\n```\n\n" +
		"`replay:delete`:\n\n```json\n{\"action\":\"purge\"}\n```\n\n```sh\nherald stop\n```\n"
	want := []Group{
		{[]string{"status", "dead list"}, []Part{
			{"inspect", []string{`{"action":"summary"}`, `{"action":"dead_letters"}`}},
			{"inspect", []string{`{"action":"causes"}`}},
		}},
		{[]string{"dead purge msg_1"}, []Part{{"replay:delete", []string{`{"action":"purge"}`}}}},
		{[]string{"stop"}, nil},
	}
	if diff := cmp.Diff(want, Groups(page)); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}
