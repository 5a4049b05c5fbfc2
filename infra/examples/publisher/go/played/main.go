// Command played publishes the messages of standard input to an SQS that its other lines play; infra/examples tests it.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	publish "github.com/herald-webhooks/herald/infra/examples/publisher/go"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	p := played{in: bufio.NewReader(os.Stdin)}
	var messages []publish.Message
	for _, row := range p.rows() {
		body, err := text(row[2])
		if err != nil {
			return err
		}
		messages = append(messages, publish.Message{TenantID: row[0], Traceparent: row[1], Body: body})
	}
	publisher := publish.Publisher{Client: p, QueueURL: "queue", FirstWait: time.Nanosecond}
	notSent, err := publisher.Publish(context.Background(), messages)
	for _, n := range notSent {
		fmt.Fprintf(os.Stdout, "not sent\t%s\t%s\n", n.Message.TenantID, n.Reason)
	}
	return err //nolint:wrapcheck // it says what was done
}

// text is Base64 of UTF-16. As programs make it, half a surrogate pair becomes bytes that are not UTF-8.
func text(encoded string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", fmt.Errorf("reading a body: %w", err)
	}
	var b []byte
	for len(raw) > 1 {
		first := rune(binary.LittleEndian.Uint16(raw))
		raw = raw[2:]
		if utf16.IsSurrogate(first) && len(raw) > 1 {
			if both := utf16.DecodeRune(first, rune(binary.LittleEndian.Uint16(raw))); both != utf8.RuneError {
				b, raw = utf8.AppendRune(b, both), raw[2:]
				continue
			}
		}
		if utf16.IsSurrogate(first) {
			b = append(b, 0xed) // the first byte of every half, which is never UTF-8 alone
			continue
		}
		b = utf8.AppendRune(b, first)
	}
	return string(b), nil
}

// played is a client that prints each entry and reads the failures, or the refusal of all.
type played struct{ in *bufio.Reader }

// rows are the fields of lines until an empty one.
func (p played) rows() (all [][]string) {
	for {
		line, err := p.in.ReadString('\n')
		line = strings.TrimSuffix(line, "\n")
		if err != nil || line == "" {
			return all
		}
		all = append(all, strings.Split(line, "\t"))
	}
}

// SendMessageBatch answers as the next lines say.
func (p played) SendMessageBatch(
	_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageBatchOutput, error) {
	for _, e := range in.Entries {
		trace := aws.ToString(e.MessageAttributes["traceparent"].StringValue)
		body := base64.StdEncoding.EncodeToString([]byte(aws.ToString(e.MessageBody)))
		fmt.Fprintf(os.Stdout, "%s\t%s\t%s\t%s\n", aws.ToString(e.Id), aws.ToString(e.MessageGroupId), trace, body)
	}
	fmt.Fprintln(os.Stdout)
	out := &sqs.SendMessageBatchOutput{}
	for _, row := range p.rows() {
		if row[0] == "refused" {
			return nil, &smithy.GenericAPIError{Code: row[1]}
		}
		out.Failed = append(out.Failed, types.BatchResultErrorEntry{
			Id: aws.String(row[0]), SenderFault: row[1] == "sender", Code: aws.String(row[2]),
		})
	}
	return out, nil
}
