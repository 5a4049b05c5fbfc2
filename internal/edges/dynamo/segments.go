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

	"github.com/herald-webhooks/herald/internal/edges/parallel"
)

// scanSegments is the number of parts of a table that are read at the same time. One partition gives 3,000 read units a
// second, which is slow for a whole table. All parts together stay below the 40,000 read units of a table.
const scanSegments = 8

// segments are the parts of a table that have not been read to their end. The value for a part's number is the key
// after which the reading of the part continues.
type segments map[int]attributes

// parseSegments is the reverse of String; "" is the whole table. The text includes scanSegments: with another number of
// parts, a part's number would stand for other items.
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
		start, err := decodeCursor(cursor)
		if err != nil {
			return nil, err
		}
		s[n] = start
	}
	return s, nil
}

// String is "" if no part is left.
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

// throttling recognises a throttled call. A table on demand may be throttled for minutes when many reads begin at once,
// until DynamoDB has scaled it. A throttled part goes on later.
var throttling = retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}

// scanPage reads the next pages of all parts at the same time. left are the parts behind these pages.
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
