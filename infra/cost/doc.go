// Package cost counts what Herald asks of AWS.
//
// Its tests drive the real handlers fanout, deliver, release and deadletter, made by their own
// constructors, over the wire against the emulator, and count units, requests and bytes. What Lambda
// itself asks of SQS is modelled.
package cost
