// Package awscall makes the calls of the functions that work on queues: with the codecs, the
// endpoints, the retries and the errors of the AWS SDK, but without the chain of middleware that
// the SDK puts together anew for each call, with signatures that cost less, and over connections
// that need no goroutines (decision 19).
//
// It promises that a call sends what the SDK's client would send for the same input, makes as many
// tries, and returns the same output or an error that says the same and in which errors.As finds the
// same; and that answers match their checksums. It reads no configuration of its own: everything
// comes from the SDK's client. Left out are tracing, correction of a wrong clock, and the headers that
// tell AWS about the SDK.
package awscall

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyendpoints "github.com/aws/smithy-go/endpoints"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// service is one AWS service as the SDK's client of it is configured.
type service struct {
	id          string // as the SDK's errors name it
	endpoint    url.URL
	unknown     error // why the endpoint is not known
	protocol    smithyhttp.ClientProtocol
	types       *smithy.TypeRegistry // of errors
	credentials aws.CredentialsProvider
	signing     *signing
	retries     retries
	http        aws.HTTPClient
	custom      bool                                        // the configuration has options that only the SDK understands
	verify      func(header http.Header, body []byte) error // a checksum over an answer; nil: none
}

// at sets the endpoint that the SDK has resolved.
func (s *service) at(to smithyendpoints.Endpoint, err error) {
	s.endpoint = to.URI
	if s.endpoint.Path == "" {
		s.endpoint.Path = "/"
	}
	if err != nil {
		s.unknown = fmt.Errorf("finding the endpoint: %w", err)
	}
}

// call makes the call until it succeeds, as often as the SDK's retryer has it, and returns out, into
// which the answer is read.
func call[O smithy.Deserializable](
	ctx context.Context, s *service, op *smithy.OperationSchema, in smithy.Serializable, out O,
) (O, error) {
	r, err := s.encode(ctx, op, in)
	if err == nil {
		err = s.retries.run(ctx, func() error { return s.try(ctx, op, r, out) })
	}
	if err != nil {
		var none O
		return none, &smithy.OperationError{ServiceID: s.id, OperationName: op.ID().Name, Err: err}
	}
	return out, nil
}

// request is what all tries send, each signed anew.
type request struct {
	*http.Request
	sum string // SHA-256 of the body, in hexadecimal digits
}

var (
	userAgent = []string{"aws-sdk-go-v2/" + aws.SDKVersion}
	identity  = []string{"identity"}

	trace   awsmiddleware.RecursionDetection
	nothing = middleware.BuildHandlerFunc(func(context.Context, middleware.BuildInput) (
		out middleware.BuildOutput, metadata middleware.Metadata, err error,
	) {
		return out, metadata, nil
	})
)

// encode makes the request as the SDK's protocol does.
func (s *service) encode(ctx context.Context, op *smithy.OperationSchema, in smithy.Serializable) (request, error) {
	r := smithyhttp.Request{Request: &http.Request{URL: &url.URL{}, Header: make(http.Header, 8)}}
	if err := s.protocol.SerializeRequest(ctx, op, in, &r); err != nil {
		return request{}, err
	}
	body, ok := r.GetStream().(io.ReadSeeker)
	if !ok {
		return request{}, errors.New("the body cannot be sent twice")
	}
	return s.request(ctx, r.Header, body)
}

// request makes a request with what every one needs.
func (s *service) request(ctx context.Context, header http.Header, body io.ReadSeeker) (request, error) {
	if s.unknown != nil {
		return request{}, s.unknown
	}
	header["User-Agent"] = userAgent
	if s.verify != nil {
		header["Accept-Encoding"] = identity // a checksum over a compressed answer would be of no use
	}
	sum := sha256.New()
	length, err := io.Copy(sum, body)
	if err != nil {
		return request{}, fmt.Errorf("reading the body: %w", err)
	}
	to := s.endpoint // signing writes into it
	r := (&http.Request{
		Method: http.MethodPost, URL: &to, Host: to.Host, Header: header, ContentLength: length,
		GetBody: func() (io.ReadCloser, error) {
			_, err := body.Seek(0, io.SeekStart)
			return io.NopCloser(body), err
		},
	}).WithContext(ctx)
	// Lambda finds functions that call each other without end by what this hands on.
	_, _, err = trace.HandleBuild(ctx, middleware.BuildInput{Request: &smithyhttp.Request{Request: r}}, nothing)
	return request{Request: r, sum: hex.EncodeToString(sum.Sum(nil))}, err
}

// try makes the call once.
func (s *service) try(ctx context.Context, op *smithy.OperationSchema, r request, out smithy.Deserializable) error {
	keys, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("retrieving credentials: %w", err)
	}
	if err := s.signing.sign(ctx, r, keys, time.Now()); err != nil {
		return fmt.Errorf("signing: %w", err)
	}
	if r.Body, err = r.GetBody(); err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	res, err := s.http.Do(r.Request) //nolint:bodyclose // decode closes it
	if err == nil {
		return s.decode(ctx, op, res, out)
	}
	err = &smithyhttp.RequestSendError{Err: err}
	if ctx.Err() != nil {
		err = &smithy.CanceledError{Err: ctx.Err()}
	}
	return failed(&http.Response{}, err)
}

// failed says of which answer the error is; the SDK has one, with the status 0, even where none came.
func failed(res *http.Response, err error) error {
	return &awshttp.ResponseError{
		RequestID:     res.Header.Get("X-Amzn-Requestid"),
		ResponseError: &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: res}, Err: err},
	}
}

func (s *service) decode(
	ctx context.Context, op *smithy.OperationSchema, res *http.Response, out smithy.Deserializable,
) error {
	defer func() { _ = res.Body.Close() }()
	err := s.verified(res)
	if err == nil {
		err = s.protocol.DeserializeResponse(ctx, op, s.types, &smithyhttp.Response{Response: res}, out)
	}
	if err != nil {
		return failed(res, err)
	}
	return nil
}

// verified compares the body with its checksum, if it has one, and leaves it to be read.
func (s *service) verified(res *http.Response) error {
	if s.verify == nil {
		return nil
	}
	body, err := readAll(res.Body, res.ContentLength)
	if err != nil {
		return &smithy.DeserializationError{Err: err}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return s.verify(res.Header, body)
}
