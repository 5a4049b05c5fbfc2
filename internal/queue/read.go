package queue

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// UnmarshalJSONFrom reads the event without reflection, which takes one and a half times as long and
// three times the allocations.
func (e *Event) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	r := reader{in: in, last: new(Record)}
	for r.object(); r.member(); {
		if string(r.name) != "Records" {
			r.skip()
			continue
		}
		e.Records = nil
		for r.array(); r.element(); {
			if len(e.Records) == 1 {
				e.Records = slices.Grow(e.Records, min(len(in.UnreadBuffer())/int(in.InputOffset())+1, maxRoom))
			}
			e.Records = append(e.Records, Record{})
			r.record(&e.Records[len(e.Records)-1])
			r.last = &e.Records[len(e.Records)-1]
		}
	}
	return r.err
}

// maxRoom bounds the room that is made for records of the size of the first.
const maxRoom = 100

// reader reads records. Those of one event have much in common: a text that is the same as in the
// last record is not allocated again. After an error there are no members and no elements.
type reader struct {
	in      *jsontext.Decoder
	err     error
	null    bool    // what was begun is no object or array, but null
	last    *Record // that was read
	name    []byte  // of the member whose value is next
	scratch []byte  // for names and texts that have escapes
}

func (r *reader) record(to *Record) {
	for r.object(); r.member(); {
		switch string(r.name) {
		case "messageId":
			to.MessageID = r.text("")
		case "receiptHandle":
			to.ReceiptHandle = r.text("")
		case "body":
			to.Body = r.bytes()
		case "attributes":
			to.Attributes = r.system()
		case "messageAttributes":
			to.MessageAttributes = r.attributes()
		case "eventSourceARN":
			to.EventSourceARN = r.text(r.last.EventSourceARN)
		default:
			r.skip()
		}
	}
}

func (r *reader) system() (to System) {
	for r.object(); r.member(); {
		switch string(r.name) {
		case "ApproximateReceiveCount":
			to.ReceiveCount = r.text(r.last.Attributes.ReceiveCount)
		case "SentTimestamp":
			to.SentAt = r.text(r.last.Attributes.SentAt)
		default:
			r.skip()
		}
	}
	return to
}

func (r *reader) attributes() (all AttributeList) {
	for r.object(); r.member(); {
		if all == nil {
			all = make(AttributeList, 0, max(len(r.last.MessageAttributes), 7))
		}
		all.Set(r.attribute(r.like(len(all))))
	}
	return all
}

// like is what the attribute at a place is probably like.
func (r *reader) like(place int) Attribute {
	if place < len(r.last.MessageAttributes) {
		return r.last.MessageAttributes[place]
	}
	return Attribute{Name: known[string(r.name)]}
}

// Lambda writes an attribute of type String so, around its value.
const (
	textBegins = `{"stringValue":"`
	textEnds   = `","stringListValues":[],"binaryListValues":[],"dataType":"String"}`
)

// attribute reads an attribute. Most of the tokens of an event are of attributes that differ in nothing
// but their text: of these it cuts the text out, once jsontext has read them as a whole.
func (r *reader) attribute(like Attribute) Attribute {
	name := same(r.name, like.Name)
	all, err := r.in.ReadValue()
	if err != nil {
		r.err = err
		return Attribute{}
	}
	if text, ok := bytes.CutPrefix(all, []byte(textBegins)); ok {
		text, ok = bytes.CutSuffix(text, []byte(textEnds))
		if ok && bytes.IndexByte(text, '"') < 0 && bytes.IndexByte(text, '\\') < 0 {
			return Attribute{Name: name, StringValue: same(text, like.StringValue), DataType: "String"}
		}
	}
	return r.anyAttribute(name, all)
}

func (r *reader) anyAttribute(name string, all jsontext.Value) Attribute {
	var a Attribute
	if err := json.Unmarshal(all, &a, jsontext.AllowDuplicateNames(true)); err != nil {
		r.err = err
		if misfit := (*json.SemanticError)(nil); errors.As(err, &misfit) {
			misfit.JSONPointer = r.in.StackPointer() + misfit.JSONPointer
		}
	}
	a.Name = name
	return a
}

var (
	errNoText   = errors.New("must be text")
	errNoObject = errors.New("must be an object")
	errNoArray  = errors.New("must be an array")
)

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

// same is string(b), and like itself if it is the same.
func same(b []byte, like string) string {
	if string(b) == like {
		return like
	}
	return string(b)
}

// text reads a string; null is "".
func (r *reader) text(like string) string {
	if quoted := r.quoted(); quoted != nil {
		return same(r.unquote(quoted), like)
	}
	return ""
}

// bytes reads a string as what it means in UTF-8.
func (r *reader) bytes() (b []byte) {
	if quoted := r.quoted(); quoted != nil {
		b, r.err = jsontext.AppendUnquote(make([]byte, 0, len(quoted)), quoted)
	}
	return b
}

// quoted reads a string as it stands; null is nil.
func (r *reader) quoted() jsontext.Value {
	value, err := r.in.ReadValue()
	switch {
	case err != nil:
		r.err = err
	case value.Kind() == jsontext.KindString:
		return value
	case value.Kind() != jsontext.KindNull:
		r.misfit(value.Kind(), errNoText)
	}
	return nil
}

// misfit notes that the value just read, or begun, is not what belongs there.
func (r *reader) misfit(kind jsontext.Kind, err error) {
	r.err = &json.SemanticError{JSONPointer: r.in.StackPointer(), JSONKind: kind, Err: err}
}

// unquote returns the text of a JSON string. It is gone with the next one.
func (r *reader) unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	r.scratch, r.err = jsontext.AppendUnquote(r.scratch[:0], quoted)
	return r.scratch
}

func (r *reader) skip() {
	_, r.err = r.in.ReadValue() // all of the event is in memory: SkipValue would go token by token
}

// object begins to read an object.
func (r *reader) object() { r.begin(jsontext.KindBeginObject, errNoObject) }

// array begins to read an array.
func (r *reader) array() { r.begin(jsontext.KindBeginArray, errNoArray) }

func (r *reader) begin(want jsontext.Kind, misfit error) {
	token, err := r.in.ReadToken()
	kind := token.Kind()
	switch r.null = kind == jsontext.KindNull; {
	case err != nil:
		r.err = err
	case kind != want && !r.null:
		r.misfit(kind, misfit)
	}
}

// member goes to the next member of an object, or past its end.
func (r *reader) member() bool {
	if r.err != nil || r.null {
		r.null = false
		return false
	}
	if r.in.PeekKind() != jsontext.KindString {
		_, r.err = r.in.ReadToken()
		return false
	}
	var name []byte
	if name, r.err = r.in.ReadValue(); r.err != nil {
		return false
	}
	r.name = r.unquote(name)
	return r.err == nil
}

// element goes to the next element of an array, or past its end.
func (r *reader) element() bool {
	if r.err != nil || r.null {
		r.null = false
		return false
	}
	if k := r.in.PeekKind(); k != jsontext.KindEndArray && k != jsontext.KindInvalid {
		return true
	}
	_, r.err = r.in.ReadToken()
	return false
}
