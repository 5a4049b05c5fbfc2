//go:build emulator

package examples_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/event"
)

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// A request can succeed in part: the rest is sent again, and the caller gets the entries that SQS refuses for good.
func TestPublishersSendEachEventUntilItIsTaken(t *testing.T) {
	for language, command := range publishers(t) {
		t.Run(language, func(t *testing.T) { sendsUntilTaken(t, command) })
	}
}

func TestPublishersStopForNoBadMessage(t *testing.T) {
	for language, command := range publishers(t) {
		t.Run(language+" sends all but the bad ones", func(t *testing.T) { sendsAllButTheBadOnes(t, command) })
		t.Run(language+" sends the others of a refused request", func(t *testing.T) { sendsTheOthers(t, command) })
		t.Run(language+" fails if SQS refuses everything", func(t *testing.T) { failsWithoutAccess(t, command) })
	}
}

// twentySix are 23 small events, then three large ones.
func twentySix() []string {
	var all []string
	for n := range 26 {
		padding := 2
		if n > 22 {
			padding = 100_000
		}
		traceparent := ""
		if n%2 == 0 {
			traceparent = trace
		}
		body := fmt.Sprintf(`{"id":"evt_%d","tenant_id":"tenant_%d","type":"user.created","data":{"userId":"user_%s"}}`,
			n, n, strings.Repeat("1", padding))
		all = append(all, message(fmt.Sprintf("tenant_%d", n), traceparent, units(body)))
	}
	return all
}

// The events of tenants 3, 5 and 7 fail: for good, twice, and each time.
func sendsUntilTaken(t *testing.T, command []string) {
	t.Helper()
	taken := map[string]int{}
	p := &played{t: t, answer: func(request []sent) (failures []string) {
		for n, one := range request {
			decoded, err := event.Decode([]byte(one.body), "unused")
			if err != nil || decoded.TenantID != one.tenant {
				t.Errorf("an event of %q in the group %q: %v", decoded.TenantID, one.tenant, err)
			}
			taken[one.tenant]++
			switch {
			case one.tenant == "tenant_3":
				failures = append(failures, failed(n, "sender", "InvalidMessageContents"))
			case one.tenant == "tenant_5" && taken[one.tenant] < 3:
				failures = append(failures, failed(n, "service", "InternalError"))
			case one.tenant == "tenant_7":
				failures = append(failures, failed(n, "service", "ServiceUnavailable"))
			}
		}
		return failures
	}}
	notSent, err := p.play(command, twentySix())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"not sent\ttenant_3\tInvalidMessageContents", "not sent\ttenant_7\tServiceUnavailable"}
	if diff := cmp.Diff(want, notSent); diff != "" {
		t.Errorf("not sent (-want +got):\n%s", diff)
	}
	// Ten, of which three fail, one for good; two again, and again; one twice more; ten; three with a large one
	// and another; the last.
	if diff := cmp.Diff([]int{10, 2, 2, 1, 1, 10, 5, 1}, p.sizes()); diff != "" {
		t.Errorf("sizes of requests (-want +got):\n%s", diff)
	}
	for n := range 26 {
		sends := map[int]int{5: 3, 7: 5}[n]
		if tenant := fmt.Sprintf("tenant_%d", n); taken[tenant] != max(sends, 1) {
			t.Errorf("the event of %s was sent %d times", tenant, taken[tenant])
		}
	}
	if first := p.requests[0]; first[0].trace != trace || first[1].trace != "" {
		t.Errorf("traces of the first events: %q, %q", first[0].trace, first[1].trace)
	}
}

// sizes are the numbers of entries, by request.
func (p *played) sizes() (all []int) {
	for _, request := range p.requests {
		all = append(all, len(request))
	}
	return all
}

// of is a body of exactly size bytes in UTF-8.
func of(size int, character string) string {
	const head, tail = `{"a":"`, `"}`
	return head + strings.Repeat(character, (size-len(head)-len(tail))/len(character)) + tail
}

// A message that SQS would refuse stops no other, and comes back with the reason.
func sendsAllButTheBadOnes(t *testing.T, command []string) {
	t.Helper()
	const most = 262_144 // bytes of a message, as EventsQueue's MaximumMessageSize has it
	traced := most - len("traceparent"+"String"+trace)
	half := append(append(units(`{"a":"cut `), 0xd83d), units(`"}`)...)
	want := [][]sent{{{"first", "", of(20, "a")}, {"second", trace, of(20, "a")}, {"odd-trace", "", of(30, "é")}}}
	want = append(want, []sent{{"most", "", of(most, "a")}}, []sent{{"most-traced", trace, of(traced, "a")}})
	want = append(want, []sent{{"emoji", "", of(240_000, "😀")}})
	p := &played{t: t, answer: func([]sent) []string { return nil }}
	notSent, err := p.play(command, []string{
		message("first", "", units(of(20, "a"))),
		message("big", "", units(of(1_100_000, "a"))),
		message("second", trace, units(of(20, "a"))),
		message("half", trace, half),
		message("control", "", units("{\"a\":\"\uffff\"}")),
		message("empty", "", nil),
		message("", "", units(of(20, "a"))),
		message("a tenant", "", units(of(20, "a"))),
		message(strings.Repeat("t", 129), "", units(of(20, "a"))),
		message("odd-trace", "a trace", units(of(30, "é"))),
		message("most", "", units(of(most, "a"))),
		message("more", "", units(of(most+1, "a"))),
		message("most-traced", trace, units(of(traced, "a"))),
		message("more-traced", trace, units(of(traced+1, "a"))),
		message("emoji", "", units(of(240_000, "😀"))),
		message("emojis", "", units(of(280_000, "😀"))),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"not sent\tbig\tMessageTooLong",
		"not sent\thalf\tInvalidMessageContents",
		"not sent\tcontrol\tInvalidMessageContents",
		"not sent\tempty\tInvalidMessageContents",
		"not sent\t\tInvalidParameterValue",
		"not sent\ta tenant\tInvalidParameterValue",
		"not sent\t" + strings.Repeat("t", 129) + "\tInvalidParameterValue",
		"not sent\tmore\tMessageTooLong",
		"not sent\tmore-traced\tMessageTooLong",
		"not sent\temojis\tMessageTooLong",
	}, notSent); diff != "" {
		t.Errorf("not sent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, p.requests, cmp.AllowUnexported(sent{})); diff != "" {
		t.Errorf("requests (-want +got):\n%.2000s", diff)
	}
}

// SQS can refuse a request for one of its entries. Which one it is shows when each is sent alone, and even then the
// service may fail once.
func sendsTheOthers(t *testing.T, command []string) {
	t.Helper()
	taken := map[string]int{}
	p := &played{t: t, answer: func(request []sent) []string {
		for _, one := range request {
			if one.tenant == "tenant_4" {
				return refused("AWS.SimpleQueueService.BatchRequestTooLong")
			}
		}
		for _, one := range request {
			if taken[one.tenant]++; one.tenant == "tenant_6" && taken[one.tenant] == 1 {
				return []string{failed(0, "service", "InternalError")}
			}
		}
		return nil
	}}
	notSent, err := p.play(command, twentySix()[:12])
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"not sent\ttenant_4\tAWS.SimpleQueueService.BatchRequestTooLong"}
	if diff := cmp.Diff(want, notSent); diff != "" {
		t.Errorf("not sent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, p.sizes()); diff != "" {
		t.Errorf("sizes of requests (-want +got):\n%s", diff)
	}
	for n := range 12 {
		sends := map[int]int{4: 0, 6: 2}
		wanted, special := sends[n]
		if tenant := fmt.Sprintf("tenant_%d", n); taken[tenant] != wanted && special || taken[tenant] != 1 && !special {
			t.Errorf("the event of %s was taken %d times", tenant, taken[tenant])
		}
	}
}

// Without access, or with the wrong queue, no message is at fault.
func failsWithoutAccess(t *testing.T, command []string) {
	t.Helper()
	p := &played{t: t, answer: func([]sent) []string { return refused("AccessDenied") }}
	notSent, err := p.play(command, twentySix()[:3])
	if err == nil || len(notSent) != 0 || len(p.requests) != 1 {
		t.Errorf("%v are not sent after %d requests, error %v", notSent, len(p.requests), err)
	}
}
