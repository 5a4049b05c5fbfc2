package function

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

const version = "/2018-06-01/runtime"

// routes is the Runtime API of one process.
func (in *instance) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+version+"/invocation/next", in.next)
	mux.HandleFunc("POST "+version+"/invocation/{id}/response", in.response)
	mux.HandleFunc("POST "+version+"/invocation/{id}/error", in.invocationError)
	return mux
}

// next blocks until there is an invocation for the process.
func (in *instance) next(w http.ResponseWriter, r *http.Request) {
	select {
	case in.polled <- struct{}{}:
	default: // start has gone on long ago
	}
	var inv *invocation
	select {
	case inv = <-in.invocations:
	case <-r.Context().Done():
		return
	}
	in.current.Store(inv)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
	h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(in.fn.Timeout).UnixMilli(), 10))
	h.Set("Lambda-Runtime-Invoked-Function-Arn", inv.arn)
	_, _ = w.Write(inv.payload) // a process that is gone is noticed by its end
}

func (in *instance) response(w http.ResponseWriter, r *http.Request) {
	inv := in.current.Load()
	if inv == nil || inv.id != r.PathValue("id") {
		http.Error(w, "InvalidRequestID", http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxPayload))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		inv.answer(inv.failure("Function.ResponseSizeTooLarge",
			"Error: Response payload size exceeded maximum allowed payload size (6291456 bytes)."))
		http.Error(w, "RequestEntityTooLarge", http.StatusRequestEntityTooLarge)
	case err != nil:
		return // the process is gone, which is noticed by its end
	default:
		inv.answer(Result{RequestID: inv.id, Payload: body})
		w.WriteHeader(http.StatusAccepted)
	}
}

func (in *instance) invocationError(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, MaxPayload)) // an error that broke off is an error, too
	if inv := in.current.Load(); inv != nil && inv.id == r.PathValue("id") {
		inv.answer(Result{RequestID: inv.id, Payload: body, Error: unhandled})
	}
	w.WriteHeader(http.StatusAccepted)
}

// invocation is one event on its way through one process.
type invocation struct {
	id      string
	arn     string // by which it was invoked
	payload []byte
	result  chan Result
}

func (f *Function) invocation(alias string, payload []byte) *invocation {
	inv := &invocation{id: rand.Text(), arn: f.ARN, payload: payload, result: make(chan Result, 1)}
	if alias != "" {
		inv.arn += ":" + alias
	}
	return inv
}

// answer ends the invocation; only the first answer counts.
func (inv *invocation) answer(r Result) {
	select {
	case inv.result <- r:
	default:
	}
}

const unhandled = "Unhandled"

// failure is Lambda's answer in place of a function that gave none.
func (inv *invocation) failure(kind, message string) Result {
	document, _ := json.Marshal(map[string]string{ // strings always encode
		"errorType": kind, "errorMessage": "RequestId: " + inv.id + " " + message,
	})
	return Result{RequestID: inv.id, Payload: document, Error: unhandled}
}
