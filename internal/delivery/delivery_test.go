package delivery

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestID_tellsApartWhateverDiffers(t *testing.T) {
	body := []byte(`{"type":"user.deleted","data":{}}`)
	id := ID("tenant", "event", "webhook_1", ContentOf(body))
	// A changed digest would give deliveries in flight a second id: this one is for ever.
	if want := "msg_rcbccxvatto4aycemysznrkllzmw235f"; id != want {
		t.Errorf("id %q, want %q", id, want)
	}
	if !regexp.MustCompile(`^msg_[a-z2-7]{32}$`).MatchString(id) {
		t.Errorf("id %q", id)
	}
	if again := ID("tenant", "event", "webhook_1", ContentOf(bytes.Clone(body))); again != id {
		t.Errorf("the same event has a second id, %q", again)
	}
	for _, other := range [][4]string{
		{"tenante", "vent", "webhook_1", string(body)}, {"tenant", "eventw", "ebhook_1", string(body)},
		{"", "tenantevent", "webhook_1", string(body)}, {"event", "tenant", "webhook_1", string(body)},
		{"tenant", "event", "webhook_1", `{"type":"user.banned","data":{}}`},
		{"tenant", "event", "webhook_1", `{"type":"user.deleted","data":{"a":1}}`},
		{"tenant", "event", "webhook_1", `{"type":"user.deleted","data":{ }}`},
	} {
		if ID(other[0], other[1], other[2], ContentOf([]byte(other[3]))) == id {
			t.Errorf("%q has the id of another delivery", other)
		}
	}
}

// The same event for the same endpoint has the same id, however often it is fanned out.
func ExampleID() {
	content := ContentOf([]byte(`{"type":"user.deleted","data":{"userId":"user_1"}}`))
	fmt.Println(ID("acme", "evt_1", "webhook_1", content))
	fmt.Println(ID("acme", "evt_1", "webhook_1", content))
	fmt.Println(ID("acme", "evt_1", "webhook_2", content))
	fmt.Println(ID("acme", "evt_1", "webhook_1", ContentOf([]byte(`{"type":"user.deleted","data":{}}`))))
	// Output:
	// msg_n6aheqtkiyi45iknfexm3pkscwrepf4s
	// msg_n6aheqtkiyi45iknfexm3pkscwrepf4s
	// msg_jlqctz65isarbmdmsoatsuccou73swgy
	// msg_c74ilxwefflvgqezjrsdzbv2e5y6b6g5
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
