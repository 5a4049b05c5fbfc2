package commands

import (
	"strings"
	"testing"

	"github.com/herald-webhooks/herald/infra/herald/exit"
)

func TestShow_keepsBodiesReadable(t *testing.T) {
	f := &fake{answers: map[string]string{"inspect dead_letter": `{"body":"{\r\n\t\"a\": \"\u001b[2J\"\n}",
		"history":[{"attempts":6,"reason":"http_\u001b5xx"},{"attempts":1}],"scopes":["a","b"]}`}}
	f.ends(t, exit.Done, "dead show msg_1", `body     {\r\n\t"a": "`+"\uFFFD"+`[2J"\n}`+"\n",
		`history  {"attempts":6,"reason":"http_\u001b5xx"}, {"attempts":1}`+"\n", "scopes   a, b\n")
}

func TestTable_hasNoStatusWhereThereWasNoResponse(t *testing.T) {
	f := &fake{answers: map[string]string{"inspect deliveries": `{"data":[
		{"attempts":7,"last_status":0,"reason":"dns"},{"attempts":0,"last_status":503,"reason":"http_5xx"}]}`}}
	out := f.ends(t, exit.Done, "deliveries find --endpoint webhook_1")
	contains(t, strings.Join(strings.Fields(out), " "), "7 – dns", "0 503 http_5xx")
	f.ends(t, exit.Done, "-o json deliveries find --endpoint webhook_1", `"last_status": 0`)
}
