package dynamo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/herald-webhooks/herald/internal/parallel"
)

// scanSegments is in how many parts a whole table is read at once. One partition gives 3,000 read units a second, so
// that one reader is slow however fast it asks; all parts together stay below the 40,000 of a table.
const scanSegments = 8

// segments are the parts of a table that were not read to their end: where each begins, by its number.
type segments map[int]attributes

// parseSegments reads what String wrote; "" is the whole table. The count of all parts goes with them: with another
// count, a part's number would stand for other items.
func parseSegments(text string) (segments, error) {
	s := segments{}
	if text == "" {
		for n := range scanSegments {
			s[n] = nil
		}
		return s, nil
	}
	words := strings.Fields(text)
	if len(words) < 2 || words[0] != strconv.Itoa(scanSegments) {
		return nil, ErrCursor
	}
	for _, word := range words[1:] {
		number, cursor, _ := strings.Cut(word, ":")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n >= scanSegments {
			return nil, ErrCursor
		}
		if s[n], err = decodeCursor(cursor); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// String is "" where nothing is left.
func (s segments) String() string {
	if len(s) == 0 {
		return ""
	}
	words := []string{strconv.Itoa(scanSegments)}
	for n := range scanSegments {
		if start, left := s[n]; left {
			words = append(words, fmt.Sprintf("%d:%s", n, encodeCursor(start)))
		}
	}
	return strings.Join(words, " ")
}

// throttling tells that a table gives no more now. It does so for minutes where reads begin at once, until it has been
// scaled, so that a part that is throttled goes on later.
var throttling = retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}

// scanPage reads the next page of each part at once, and returns what is left after them.
func (t table) scanPage(ctx context.Context, q query, from segments) (items []attributes, left segments, err error) {
	pages, rest := make([][]attributes, scanSegments), make([]segments, scanSegments)
	errs := parallel.Each(scanSegments, scanSegments, func(n int) error {
		start, unread := from[n]
		if !unread {
			return nil
		}
		part := q
		part.segment, part.start = &n, start
		found, last, err := t.scan(ctx, part)
		switch {
		case throttling.IsErrorThrottle(err) == aws.TrueTernary:
			rest[n] = segments{n: start}
			return nil
		case len(last) > 0:
			rest[n] = segments{n: last}
		}
		pages[n] = found
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	left = segments{}
	for n, page := range pages {
		items = append(items, page...)
		maps.Copy(left, rest[n])
	}
	return items, left, nil
}
