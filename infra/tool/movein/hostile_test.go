package movein

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hostileSize is that of a file in bytes.
const hostileSize = 2 << 20

// filled is a list of as many items as fit.
func filled(item func(n int) string) string {
	var b strings.Builder
	for n := 0; b.Len() < hostileSize; n++ {
		b.WriteString("," + item(n))
	}
	return "[" + b.String()[1:] + "]"
}

// hostile are files of 2 MB of which each byte costs as much as it can.
func hostile() map[string]string {
	doubled := `{"type":"object","properties":{"b":{"$ref":"#/$defs/a"}},"$defs":{`
	for c := 'a'; c < 'z'; c++ {
		next := `{"$ref":"#/$defs/` + string(c+1) + `"}`
		doubled += `"` + string(c) + `":{"prefixItems":[` + next + `,` + next + `]},`
	}
	doubled += `"z":{"title":"` + strings.Repeat("z", 99) + `"}}}`
	_, from, _ := strings.Cut(doubled, `"g":`)
	almost := `{"type":"object","properties":{"b":{"$ref":"#/$defs/g"}},"$defs":{"g":` + from
	typed := func(of func(n int) string) string {
		return filled(func(n int) string { return fmt.Sprintf(`{"name":"order.n%d","schema":%s}`, n, of(n)) })
	}
	patterns := func(n int) string {
		var list []string
		for i := range 400 {
			list = append(list, fmt.Sprintf(`"p%d":{"type":"string","pattern":"^(%d[\\s\\S]{0,30}.?){1,30}$"}`, i, n))
		}
		return `{"type":"object","properties":{` + strings.Join(list, ",") + `}}`
	}
	return map[string]string{
		"growing references":    typed(func(int) string { return doubled }),
		"references that fit":   typed(func(int) string { return almost }),
		"thousands of patterns": typed(patterns),
		"examples that fail": typed(func(int) string {
			return `{"type":"object","properties":{"a":{"uniqueItems":true}},"examples":[` +
				strings.Repeat(`{"a":[`+strings.Repeat("1.5,2.5,", 500)+`1.5,1.5]},`, 9) + `{"a":[1,1]}]}`
		}),
		"depth alone": `[{"name":"order.placed","schema":` + strings.Repeat(`{"items":`, 200_000) + `{}` +
			strings.Repeat("}", 200_000) + `}]`,
		"anchors":  typed(func(n int) string { return fmt.Sprintf(`{"$id":"a/%d/","$anchor":"b","$ref":"#b"}`, n) }),
		"one name": typed(func(int) string { return `{"type":"object","` + strings.Repeat("n", 60_000) + `":{"$ref":"#"}}` }),
		"versions": `[{"name":"order.placed","schemas":{` + strings.Trim(filled(func(n int) string {
			return fmt.Sprintf(`"%d":{"type":"object"}`, n)
		}), "[]") + `}}]`,
	}
}

// Of a file of 2 MB, however it is made, the conversion takes seconds.
func TestTypes_costsSecondsForAHostileFile(t *testing.T) {
	for name, file := range hostile() {
		before := processor(t)
		_, report, err := Types([]byte(file))
		if err == nil && len(report.Objects) == 0 {
			t.Errorf("%s: there is no type", name)
		}
		bounded(t, name, before)
	}
}

func TestEndpoints_costsSecondsForOneEndpointsSubscriptions(t *testing.T) {
	file := filled(func(n int) string {
		return fmt.Sprintf(`{"uid":"%d","endpoint_metadata":{"uid":"e1","url":"https://a.example.com/"},
			"filter_config":{"event_types":["user.created%d"]}}`, n, n)
	})
	r := rules(Convoy)
	r.Tenant = "acme"
	before := processor(t)
	if _, report, err := Endpoints([]byte(file), r); err != nil || len(report.Objects) != 1 {
		t.Errorf("%d endpoints, %v", len(report.Objects), err)
	}
	bounded(t, "subscriptions", before)
}

// bounded fails the test if it has used more than five seconds of processor time. These inputs once took minutes.
func bounded(t *testing.T, name string, before time.Duration) {
	t.Helper()
	if used := processor(t) - before; used > 5*time.Second {
		t.Errorf("%s: %v", name, used)
	}
}

// processor is the time of a processor that this process has used.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
