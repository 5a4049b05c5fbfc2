package receivers

import (
	"context"
	"net"
	"net/netip"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// Answer gives the addresses of name when it is asked for the nth time (0, 1, …), A and AAAA
// counted apart; of them, the family asked for is sent. None at all means that the name does not exist.
type Answer func(name string, nth int) []netip.Addr

// DNS starts a DNS server on loopback and returns a resolver that asks no other server.
func DNS(t Scope, answer Answer) *net.Resolver {
	t.Helper()
	return LossyDNS(t, answer, func(dnsmessage.Type, int) bool { return false })
}

// LossyDNS is DNS that does not answer the queries for which lost returns true. lost is told the type of a query, and
// how many of the same name and type came before it.
func LossyDNS(t Scope, answer Answer, lost func(queried dnsmessage.Type, nth int) bool) *net.Resolver {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("receivers: %v", err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { serveDNS(socket, answer, lost) })
	t.Cleanup(func() {
		_ = socket.Close()
		wg.Wait()
	})
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "udp", socket.LocalAddr().String())
		},
	}
}

// Always answers every name with the same addresses.
func Always(addrs ...string) Answer { return then(addrs) }

// then answers the first query with the first list, the second with the second, and stays at the last.
func then(lists ...[]string) Answer {
	return func(_ string, nth int) []netip.Addr {
		var found []netip.Addr
		for _, a := range lists[min(nth, len(lists)-1)] {
			found = append(found, netip.MustParseAddr(a))
		}
		return found
	}
}

func serveDNS(socket net.PacketConn, answer Answer, lost func(dnsmessage.Type, int) bool) {
	asked := map[dnsmessage.Question]int{}
	buf := make([]byte, 1500)
	for {
		n, from, err := socket.ReadFrom(buf)
		if err != nil {
			return
		}
		var query dnsmessage.Message
		if query.Unpack(buf[:n]) != nil || len(query.Questions) != 1 {
			continue
		}
		question := query.Questions[0]
		nth := asked[question]
		asked[question]++
		if lost(question.Type, nth) {
			continue
		}
		addrs := answer(question.Name.String(), nth)
		reply := dnsmessage.Message{
			Header: dnsmessage.Header{
				ID: query.ID, Response: true, Authoritative: true,
				RecursionDesired: query.RecursionDesired, RecursionAvailable: true,
			},
			Questions: query.Questions,
			Answers:   records(question, addrs),
		}
		if len(addrs) == 0 {
			reply.RCode = dnsmessage.RCodeNameError
		}
		if packed, err := reply.Pack(); err == nil {
			_, _ = socket.WriteTo(packed, from)
		}
	}
}

// records turns the addresses of the family asked for into records that may not be kept.
// An IPv4-mapped address is an AAAA record, as an attacker would send it.
func records(q dnsmessage.Question, addrs []netip.Addr) []dnsmessage.Resource {
	var found []dnsmessage.Resource
	for _, addr := range addrs {
		head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch {
		case q.Type == dnsmessage.TypeA && addr.Is4():
			found = append(found, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}})
		case q.Type == dnsmessage.TypeAAAA && addr.Is6():
			found = append(found, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	return found
}
