package delivery

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestID_isStableAndItsPartsDoNotRunTogether(t *testing.T) {
	id := ID("tenant", "event", "webhook_1")
	// A changed digest would give deliveries in flight a second id: this one is for ever.
	if want := "msg_7ksudkawegs6rg6tljk3qdfoulwgebc2"; id != want {
		t.Errorf("id %q, want %q", id, want)
	}
	if !regexp.MustCompile(`^msg_[a-z2-7]{32}$`).MatchString(id) {
		t.Errorf("id %q", id)
	}
	for _, other := range [][3]string{
		{"tenante", "vent", "webhook_1"}, {"tenant", "eventw", "ebhook_1"}, {"", "tenantevent", "webhook_1"},
		{"event", "tenant", "webhook_1"},
	} {
		if ID(other[0], other[1], other[2]) == id {
			t.Errorf("%q has the id of another triple", other)
		}
	}
}

// The same event for the same endpoint has the same id, however often it is fanned out.
func ExampleID() {
	fmt.Println(ID("acme", "evt_1", "webhook_1"))
	fmt.Println(ID("acme", "evt_1", "webhook_1"))
	fmt.Println(ID("acme", "evt_1", "webhook_2"))
	// Output:
	// msg_pigfcmohmix7lfxwleo7oe4ujospuoql
	// msg_pigfcmohmix7lfxwleo7oe4ujospuoql
	// msg_dpfxe3tu2auxqlzvr3ijtf23skctsyq4
}

func TestMessage_EventType(t *testing.T) {
	longest := strings.Repeat("x", 127)
	for name, row := range map[string]struct {
		body, want string
		err        error
	}{
		"the type first":              {`{"type":"user.created","data":{}}`, "user.created", nil},
		"a type of one character":     {`{"type":"x"`, "x", nil},
		"the longest type":            {`{"type":"` + longest + `"`, longest, nil},
		"a type longer than that":     {`{"type":"` + longest + `x"`, "", errNoType},
		"the type after the data":     {`{"data":{},"type":"user.created"}`, "", errNoType},
		"an empty type":               {`{"type":""`, "", errNoType},
		"a type without an end":       {`{"type":"x`, "", errNoType},
		"nothing after the type's \"": {`{"type":"`, "", errNoType},
		"no body":                     {"", "", errNoType},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Message{Body: []byte(row.body)}.EventType()
			if got != row.want || err != row.err { //nolint:errorlint // returned as it is
				t.Errorf("%q, %v; want %q, %v", got, err, row.want, row.err)
			}
		})
	}
}
