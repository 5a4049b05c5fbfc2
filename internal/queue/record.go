package queue

// Record is a message of an event that Lambda hands to a function: what Herald reads of it.
type Record struct {
	MessageID         string
	ReceiptHandle     string
	Body              []byte
	Attributes        System
	MessageAttributes AttributeList
	EventSourceARN    string
}

// System are SQS's own attributes of a message, as text.
type System struct {
	ReceiveCount string `json:"ApproximateReceiveCount"`
	SentAt       string `json:"SentTimestamp"` // Unix milliseconds
}

// AttributeList are the message attributes of a record, each name once: so few that a map costs more.
type AttributeList []Attribute

// Attribute is one message attribute: StringValue, or BinaryValue where DataType starts with
// "Binary".
type Attribute struct {
	Name        string `json:"-"`
	StringValue string `json:"stringValue"`
	BinaryValue []byte `json:"binaryValue"`
	DataType    string `json:"dataType"`
}

// Set adds an attribute, or replaces the one of its name.
func (l *AttributeList) Set(a Attribute) {
	for i := range *l {
		if (*l)[i].Name == a.Name {
			(*l)[i] = a
			return
		}
	}
	*l = append(*l, a)
}

// Get returns the text of an attribute.
func (l AttributeList) Get(name string) (value string, ok bool) {
	for i := range l {
		if l[i].Name == name {
			return l[i].StringValue, true
		}
	}
	return "", false
}
