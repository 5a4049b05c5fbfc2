package function

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// invocation is one event on its way through one process.
type invocation struct {
	id      string
	trace   string
	payload []byte
	result  chan Result
}

func newInvocation(payload []byte) *invocation {
	var b [12]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	trace := fmt.Sprintf("Root=1-%08x-%s;Sampled=0", time.Now().Unix(), hex.EncodeToString(b[:]))
	return &invocation{id: NewID(), trace: trace, payload: payload, result: make(chan Result, 1)}
}

// NewID makes an id as AWS gives to requests and events: a random UUID.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// answer ends the invocation; only the first answer counts.
func (inv *invocation) answer(r Result) {
	r.RequestID = inv.id
	select {
	case inv.result <- r:
	default:
	}
}

// failure is what Lambda answers in place of a function that gave no answer.
func (inv *invocation) failure(kind, message string) Result {
	document, _ := json.Marshal(map[string]string{ // strings always encode
		"errorType": kind, "errorMessage": "RequestId: " + inv.id + " " + message,
	})
	return Result{RequestID: inv.id, Payload: document, Error: unhandled}
}

const unhandled = "Unhandled"
