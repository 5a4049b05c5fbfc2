package operatortest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Erasable are the items of every tenant, page by page.
var Erasable = []struct {
	Kind  string
	Count int
}{{"api_keys", 2}, {"endpoints", 3}, {"deliveries", 400}, {"deliveries", 400}, {"deliveries", 400}, {"deliveries", 300}}

// Items are those of a tenant, as erasures find them.
type Items struct {
	Takes time.Duration // a page
	Fails int           // the page that cannot be erased; 0: none
	Steps []string
}

// Page counts or erases a page. Its place is its number.
func (i *Items) Page(
	_ context.Context, tenantID, place string, dryRun bool,
) (kind string, count int, next string, err error) {
	time.Sleep(i.Takes)
	n, _ := strconv.Atoi(place) // the first has no place
	if n > 0 && n == i.Fails {
		return "", 0, "", errors.New("throttled")
	}
	if n+1 < len(Erasable) {
		next = strconv.Itoa(n + 1)
	}
	what := map[bool]string{true: "count", false: "delete"}[dryRun]
	i.Steps = append(i.Steps, fmt.Sprint(what, " ", tenantID, " ", n))
	return Erasable[n].Kind, Erasable[n].Count, next, nil
}
