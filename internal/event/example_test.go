package event_test

import (
	"fmt"

	"github.com/herald-webhooks/herald/internal/event"
)

func ExampleDecode() {
	body := []byte(`{"tenant_id":"acme","type":"user.created","data":{"userId":"user_1"}}`)
	e, err := event.Decode(body, "5fea7756-0ea4-451a-a703-a558b933e274")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.ID, e.TenantID)
	fmt.Printf("%s\n", e.Payload())
	// Output:
	// 5fea7756-0ea4-451a-a703-a558b933e274 acme
	// {"type":"user.created","data":{"userId":"user_1"}}
}

func ExampleDecode_refused() {
	_, err := event.Decode([]byte(`{"tenant_id":"acme","type":"user.exploded","data":{}}`), "5fea7756")
	fmt.Println(err)
	// Output: invalid event: type: is not an implemented event; the nearest are user.updated, user.deleted, user.restored
}
