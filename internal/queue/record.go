package queue

// Record is a message as Lambda hands it to a function (Lambda Developer Guide, "Example Amazon
// SQS message event"): what Herald reads of it. The whole event of aws-lambda-go costs twice
// the memory and half again the decoding of this.
type Record struct {
	MessageID         string               `json:"messageId"`
	ReceiptHandle     string               `json:"receiptHandle"`
	Body              string               `json:"body"`
	Attributes        System               `json:"attributes"`
	MessageAttributes map[string]Attribute `json:"messageAttributes"`
	EventSourceARN    string               `json:"eventSourceARN"`
}

// System are SQS's own attributes of a message, as text.
type System struct {
	ReceiveCount string `json:"ApproximateReceiveCount"`
	FirstReceive string `json:"ApproximateFirstReceiveTimestamp"` // Unix milliseconds
}

// Attribute is one message attribute: StringValue, or BinaryValue where DataType starts with
// "Binary".
type Attribute struct {
	StringValue string `json:"stringValue"`
	BinaryValue []byte `json:"binaryValue"`
	DataType    string `json:"dataType"`
}
