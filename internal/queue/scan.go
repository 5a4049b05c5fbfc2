package queue

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// scan reads an event that is as Lambda writes it: without spaces, and with escapes in bodies only. Of any
// other it reports false. What it takes is valid JSON, except that it does not look for control
// characters in strings other than bodies.
func scan(event []byte) (records []Record, ok bool) {
	c := scanner(event)
	if !c.literal(`{"Records":[`) {
		return nil, false
	}
	for last := new(Record); ; {
		before := len(c)
		records = append(records, Record{})
		to := &records[len(records)-1]
		if !c.record(to, last) {
			return nil, false
		}
		if !c.literal(",") {
			return records, c.literal("]}") && len(c) == 0
		}
		if last = to; len(records) == 1 {
			records = slices.Grow(records, min(len(c)/(before-len(c))+1, maxRoom))
		}
	}
}

// maxRoom bounds the room that is made for records of the size of the first.
const maxRoom = 100

// scanner is what is left to read of an event. Each of its methods goes past what it reads, or reports that
// something else is there.
type scanner []byte

// record reads a record. Those of one event have much in common: a text that is the same as in the last
// one is not allocated again.
func (c *scanner) record(to, last *Record) bool {
	return c.members(func(name []byte) bool {
		switch string(name) {
		case "messageId":
			return c.text(&to.MessageID, "")
		case "receiptHandle":
			return c.text(&to.ReceiptHandle, "")
		case "body":
			return c.bytes(&to.Body)
		case "attributes":
			return c.members(func(name []byte) bool { return c.system(name, &to.Attributes, last.Attributes) })
		case "messageAttributes":
			to.MessageAttributes = nil
			return c.members(func(name []byte) bool {
				return c.attribute(name, &to.MessageAttributes, last.MessageAttributes)
			})
		case "eventSourceARN":
			return c.text(&to.EventSourceARN, last.EventSourceARN)
		default:
			return c.plain() != nil
		}
	})
}

func (c *scanner) system(name []byte, to *System, last System) bool {
	switch string(name) {
	case "ApproximateReceiveCount":
		return c.text(&to.ReceiveCount, last.ReceiveCount)
	case "SentTimestamp":
		return c.text(&to.SentAt, last.SentAt)
	default:
		return c.plain() != nil
	}
}

// Lambda writes an attribute of type String so, around its value.
const (
	textBegins = `{"stringValue":`
	textEnds   = `,"stringListValues":[],"binaryListValues":[],"dataType":"String"}`
)

func (c *scanner) attribute(name []byte, all *AttributeList, last AttributeList) bool {
	if *all == nil {
		*all = make(AttributeList, 0, max(len(last), 7))
	}
	like := Attribute{Name: known[string(name)]}
	if place := len(*all); place < len(last) {
		like = last[place] // most likely
	}
	a := Attribute{Name: same(name, like.Name), DataType: "String"}
	ok := c.literal(textBegins) && c.text(&a.StringValue, like.StringValue) && c.literal(textEnds)
	all.Set(a)
	return ok
}

// known are the names of attributes that delivery messages have.
var known = func() map[string]string {
	all := map[string]string{}
	for _, s := range []string{
		attrVersion, attrDelivery, attrTenant, attrEndpoint, attrEvent, attrOccurred, attrCreated, attrReplay, attrAttempts,
		attrLife,
	} {
		all[s] = s
	}
	return all
}()

// members reads an object; value reads what belongs to a name.
func (c *scanner) members(value func(name []byte) bool) bool {
	if !c.literal("{") {
		return false
	}
	if c.literal("}") {
		return true
	}
	for {
		name := c.plain()
		switch {
		case name == nil || !c.literal(":") || !value(name):
			return false
		case c.literal("}"):
			return true
		case !c.literal(","):
			return false
		}
	}
}

func (c *scanner) literal(s string) bool {
	if len(*c) < len(s) || string((*c)[:len(s)]) != s {
		return false
	}
	*c = (*c)[len(s):]
	return true
}

// text reads a string without escapes.
func (c *scanner) text(to *string, like string) bool {
	text := c.plain()
	*to = same(text, like)
	return text != nil
}

// same is string(b), and like itself if it is the same.
func same(b []byte, like string) string {
	if string(b) == like {
		return like
	}
	return string(b)
}

// plain returns the text of a string without escapes, or nil.
func (c *scanner) plain() []byte {
	if !c.literal(`"`) {
		return nil
	}
	end := bytes.IndexByte(*c, '"')
	if end < 0 {
		return nil
	}
	text := (*c)[:end]
	*c = (*c)[end+1:]
	if bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text) {
		return nil
	}
	return text
}

// bytes reads any string as what it means in UTF-8.
func (c *scanner) bytes(to *[]byte) bool {
	if len(*c) == 0 || (*c)[0] != '"' {
		return false
	}
	for end := 1; ; end++ {
		next := bytes.IndexByte((*c)[end:], '"')
		if next < 0 {
			return false
		}
		if end += next; !escapes((*c)[:end]) {
			text, err := jsontext.AppendUnquote(make([]byte, 0, end+1), (*c)[:end+1])
			*to, *c = text, (*c)[end+1:]
			return err == nil
		}
	}
}

// escapes reports whether the text escapes what comes after it: it ends with an odd number of backslashes.
func escapes(text []byte) bool {
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}
