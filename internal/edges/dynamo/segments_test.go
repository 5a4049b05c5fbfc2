package dynamo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
)

// parted is a table of 100 records, item n in the segment n modulo the count of segments, with pages of three. All are
// selected.
type parted struct {
	mu       sync.Mutex
	scans    int
	breaks   int             // the scan that fails, and all after it
	throttle int             // each so many scans is throttled
	asked    int             // scans, throttled ones too
	deleted  map[string]bool // by key
	reads    map[string]int  // by the key where they begin
	requests []request
}

type request struct {
	Segment, TotalSegments *int
	ConsistentRead         bool
	ExclusiveStartKey, Key map[string]struct{ S string }
}

const records = 100

func (p *parted) Do(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	answer, status := `{}`, http.StatusOK
	switch {
	case strings.HasSuffix(r.Header.Get("X-Amz-Target"), "DeleteItem"):
		p.deleted[in.Key["delivery_id"].S] = true
	case p.breaks > 0 && p.scans >= p.breaks:
		answer, status = `{"__type":"ValidationException"}`, http.StatusBadRequest
	default:
		p.asked++
		if p.throttle > 0 && p.asked%p.throttle > 0 {
			answer, status = `{"__type":"ProvisionedThroughputExceededException"}`, http.StatusBadRequest
			break
		}
		answer = p.scan(in)
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func (p *parted) scan(in request) string {
	p.scans++
	p.requests = append(p.requests, in)
	segment, total := 0, 1
	if in.Segment != nil && in.TotalSegments != nil {
		segment, total = *in.Segment, *in.TotalSegments
	}
	start := in.ExclusiveStartKey["delivery_id"].S
	p.reads[fmt.Sprint(segment, " ", start)]++
	var found []string
	for n := segment; n < records; n += total {
		if key := fmt.Sprintf("msg_%03d", n); key > start {
			found = append(found, `{"delivery_id":{"S":"`+key+`"}}`)
		}
	}
	if len(found) <= 3 {
		return `{"Items":[` + strings.Join(found, ",") + `]}`
	}
	return `{"Items":[` + strings.Join(found[:3], ",") + `],"LastEvaluatedKey":` + found[2] + `}`
}

func partedErasure() (*parted, *Erasure) {
	p := &parted{deleted: map[string]bool{}, reads: map[string]int{}}
	client := dynamodb.NewFromConfig(aws.Config{
		Region: "eu-central-1", HTTPClient: p, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	})
	all := NewErasure(client, ErasedTables{Deliveries: "Deliveries"})
	n := slices.IndexFunc(all.kinds, func(k erased) bool { return k.name == "deliveries" })
	return p, &Erasure{all.kinds[n : n+1]}
}

// eraseAll erases page by page. A page that fails is asked for again.
func eraseAll(t *testing.T, p *parted, erasure *Erasure) {
	t.Helper()
	for place, faults := "", 0; ; {
		_, _, next, err := erasure.Page(t.Context(), "acme", place, false)
		switch {
		case err == nil && next == "":
			return
		case err == nil:
			place = next
		case faults > 0:
			t.Fatal(err)
		default:
			faults, p.breaks = 1, 0
		}
	}
}

// An erasure that breaks off, wherever that is, can be resumed from the place that it had reached. It deletes
// everything, and only the pages of its last step are paid for twice.
func TestErasure_Page_goesOnInEveryPartWhereItBrokeOff(t *testing.T) {
	whole, erasure := partedErasure()
	eraseAll(t, whole, erasure)
	for _, in := range whole.requests {
		if in.Segment == nil || *in.TotalSegments != scanSegments || in.ConsistentRead {
			t.Fatalf("a scan of %+v", in)
		}
	}
	if len(whole.deleted) != records || len(whole.reads) != whole.scans {
		t.Errorf("%d of %d records deleted, %d pages in %d scans", len(whole.deleted), records, len(whole.reads), whole.scans)
	}
	for breaks := range whole.scans {
		p, erasure := partedErasure()
		p.breaks = breaks + 1
		eraseAll(t, p, erasure)
		if twice := p.scans - len(p.reads); len(p.deleted) != records || twice >= scanSegments {
			t.Errorf("broken off after %d scans: %d of %d records deleted, %d pages read twice", breaks+1, len(p.deleted),
				records, twice)
		}
	}
}

// A table with capacity that grows during a scan throttles some parts, or all of them for a while.
func TestErasure_Page_goesOnWherePartsAreThrottled(t *testing.T) {
	for _, throttle := range []int{2, 3, 7, 20} {
		p, erasure := partedErasure()
		p.throttle = throttle
		eraseAll(t, p, erasure)
		if len(p.deleted) != records || p.scans != len(p.reads) {
			t.Errorf("one scan in %d: %d of %d records deleted, %d pages in %d scans", throttle, len(p.deleted), records,
				len(p.reads), p.scans)
		}
	}
}

// A part's number means something only with the count of all parts, which another release may have changed.
func TestParseSegments_refusesWhatItDidNotWrite(t *testing.T) {
	for _, place := range []string{"8", "7 0:", "16 0:", "8 8:", "8 -1:", "8 x:", "8 0:!", "eyJhIjoiYiJ9", "0: 1:"} {
		if _, err := parseSegments(place); !errors.Is(err, ErrCursor) {
			t.Errorf("%q: %v", place, err)
		}
	}
	want := segments{0: nil, 7: attributes{"delivery_id": str("msg_1")}}
	got, err := parseSegments(want.String())
	if diff := cmp.Diff(want.String(), got.String()); diff != "" || err != nil || len(got) != len(want) {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
