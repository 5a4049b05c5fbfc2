package receivers

import (
	"net"
	"slices"
	"time"
)

// End says when a POST to a hostile receiver comes back.
type End int

const (
	// Promptly is before any deadline of the client runs out.
	Promptly End = iota
	// ByDrain is as soon as the client has a status and gives up on the body behind it.
	ByDrain
	// ByConnect is when the client's deadline over connecting, or over the TLS handshake, runs out.
	ByConnect
	// ByDeadline is when the client's deadline over the whole exchange runs out.
	ByDeadline
)

// memory bounds one POST's allocations, both sides of the loopback connection together, for any receiver: a TLS
// handshake, 64 KiB of headers and 64 KiB of body fit many times over.
const memory = 4 << 20

// Sent bounds what a receiver can write, TLS included, before a client that reads 64 KiB of headers and 64 KiB of body
// hangs up. That is those two, and the buffers of both kernels. After Most, the receiver hangs up by itself.
const (
	Sent = 16 << 20
	Most = 256 << 20
)

// Family is a kind of hostility.
type Family string

// The families, in the order of an exchange.
const (
	Connections  Family = "no answer"
	Certificates Family = "certificates and TLS versions"
	Secure       Family = "TLS after the handshake"
	Heads        Family = "status and headers"
	Bodies       Family = "bodies"
	Desyncs      Family = "answers that belong to no request"
	Kept         Family = "connections kept open"
	Servers      Family = "servers"
	Statuses     Family = "statuses"
	Redirects    Family = "redirects"
	Waits        Family = "Retry-After"
	Names        Family = "names"
)

// Case is one hostile (or just unusual) receiver and the required results of delivering to it. The client under test
// trusts the CA given to Start, may dial 127.0.0.1 and nothing else that is not public, and any port from 1024 up.
type Case struct {
	Name  string // a sentence
	Kind  Family
	Start func(t Scope, ca *CA) Target // starts the receiver; it ends with t
	Want  []Outcome                    // of each POST, made one after the other with one client
	Ends  End                          // bound on time
	Bytes uint64                       // bound on memory allocated per POST
	Pause time.Duration                // between two POSTs

	// Unsent says that a safe client sends nothing of its request.
	Unsent bool
	// Beyond says that an unsafe client would leave this machine.
	Beyond bool
}

// Target is where a case listens.
type Target struct {
	URL       string
	Neighbour string        // another tenant's endpoint on the same host, which answers 204; "" where it could not
	Resolver  *net.Resolver // nil unless the case is about DNS
	Seen      *Seen         // acts of the client so far
	Trapped   func() int    // connections that should never have been made; nil: nothing to trap
}

// Outcome is the client's required report. Status 0 is "no response".
type Outcome struct {
	Status     int
	Reason     string // as in record, log and metric; written out in the tables, so that a changed name is noticed
	RetryAfter string // the Retry-After header as received
}

// Hostile is the table of all cases.
var Hostile = slices.Concat(
	of(Connections, connections), of(Certificates, certificates), of(Heads, heads), of(Bodies, bodies),
	of(Desyncs, desyncs), of(Kept, kepts), of(Secure, secures), of(Servers, servers), of(Statuses, statuses),
	of(Redirects, redirects), of(Waits, waits()), of(Names, names))

// of gives cases their family.
func of(kind Family, cases []Case) []Case {
	for i := range cases {
		cases[i].Kind = kind
	}
	return cases
}

// one makes a case of a single POST with the usual bound on memory.
func one(name string, want Outcome, ends End, start func(t Scope, ca *CA) Target) Case {
	return Case{Name: name, Start: start, Want: []Outcome{want}, Ends: ends, Bytes: memory}
}

func none(reason string) Outcome { return Outcome{Reason: reason} }

// answering is the start of a case with a valid certificate. The handler gets connections after their request was read.
func answering(handle func(*conn)) func(t Scope, ca *CA) Target {
	return func(t Scope, ca *CA) Target {
		t.Helper()
		return neighboured(serveRaw(t, ca, nil, neighbourly(handle)))
	}
}
