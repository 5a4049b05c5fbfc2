// Package cost counts what Herald asks of AWS.
//
// Its tests drive the real handlers fanout, deliver, release and deadletter, made by their own
// constructors, over the wire against the emulator, and count units, requests and bytes. What Lambda
// itself asks of SQS is modelled, and the time of an invocation assumed. The tests hold
// infra/docs/cost.md to what they count; "make cost" writes it there.
package cost
