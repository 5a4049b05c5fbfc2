// Package stack is the local stack: Herald's own template deployed to an emulator of AWS, with
// the compiled functions, their queue mappings, the HTTP API and the Invoke API run by this program.
//
// It promises that the template is the only description of the system: mappings, timeouts and environment
// are read back from the deployed stack, API and schedules from the translated template; resources that the
// emulator cannot deploy are printed. A stack owns its folder while it runs and leaves no process behind, however it
// ends. It listens on loopback only, keeps nothing over a restart but logs, and accepts any AWS credentials.
package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"golang.org/x/sync/errgroup"

	"github.com/herald-webhooks/herald/infra/kit/receiver"
	"github.com/herald-webhooks/herald/infra/kit/sam"
	"github.com/herald-webhooks/herald/infra/kit/statefile"
	"github.com/herald-webhooks/herald/infra/local/internal/function"
	"github.com/herald-webhooks/herald/infra/local/internal/mapping"
	"github.com/herald-webhooks/herald/internal/testkit/emulator"
	"github.com/herald-webhooks/herald/internal/testkit/pki"
)

// Stack is a running local stack.
type Stack struct {
	statefile.State

	options   Options
	log       *slog.Logger
	life      context.Context // the stack's own, ended by Close
	end       context.CancelFunc
	template  *sam.Template
	emulator  *emulator.Emulator
	front     net.Listener                  // of the AWS endpoint
	functions map[string]*function.Function // by logical id
	mappings  []*mapping.Mapping
	running   sync.WaitGroup // mappings and schedules
	closers   []func()
	closing   sync.Once
}

// Start starts a stack and returns it ready for use. An end of ctx while it starts stops it and
// leaves nothing behind; later the stack lives until Close.
func Start(ctx context.Context, o Options) (*Stack, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	s := &Stack{options: o, functions: map[string]*function.Function{}}
	s.State = statefile.State{
		Region: region, StackName: stackName,
		Queues: map[string]string{}, Tables: map[string]string{}, Functions: map[string]string{},
	}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.start(ctx); err != nil {
		s.Close()
		if cause := ctx.Err(); cause != nil {
			return nil, fmt.Errorf("stopped while starting: %w", cause)
		}
		return nil, err
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		s.takeFolder, s.bringUp, s.listen, s.deploy, s.serve, s.writeProfile, s.issueKey,
	} {
		if err := step(ctx); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("starting: %w", err)
		}
	}
	s.onClose(s.running.Wait)
	for _, m := range s.mappings {
		s.running.Go(func() { m.Run(s.life) })
	}
	if err := s.runSchedules(); err != nil {
		return err
	}
	return s.Write(s.options.stateFile())
}

// takeFolder makes the folder this stack's own and clears away a killed stack's remains.
func (s *Stack) takeFolder(context.Context) error {
	if err := os.MkdirAll(s.options.logs(), 0o750); err != nil {
		return fmt.Errorf("making folder: %w", err)
	}
	held, err := lock(s.options.Dir)
	if err != nil {
		return err
	}
	s.onClose(func() { _ = errors.Join(held.Truncate(0), held.Close()) })
	if err := os.Remove(s.options.stateFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing old state: %w", err)
	}
	s.onClose(func() { _ = os.Remove(s.options.stateFile()) })
	lines, err := s.logFile("host.log")
	if err != nil {
		return err
	}
	s.log = slog.New(slog.NewJSONHandler(lines, nil))
	return s.makeCertificates()
}

// makeCertificates makes a new authority and the certificate of the receivers it vouches for.
func (s *Stack) makeCertificates() error {
	ca, err := pki.New("Herald local stack CA")
	if err != nil {
		return err
	}
	files, err := ca.Write(filepath.Join(s.options.Dir, "tls"), pki.Leaf{Hosts: receiver.Hosts()})
	s.CAFile = files.CA
	s.ReceiverCertFile = files.Cert
	s.ReceiverKeyFile = files.Key
	return err
}

// bringUp translates the template while the emulator starts.
func (s *Stack) bringUp(ctx context.Context) error {
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		s.template, err = sam.Translate(ctx,
			sam.Source{Root: s.options.Root, Environment: "local", Parameters: s.options.Parameters})
		return err
	})
	both.Go(func() (err error) {
		s.emulator, err = emulator.Start(ctx, s.options.Root, filepath.Join(s.options.logs(), "moto.log"))
		if err == nil {
			s.onClose(s.emulator.Close)
		}
		return err
	})
	return both.Wait() //nolint:wrapcheck // both say it themselves
}

// aws is the configuration of a client of the stack.
func (s *Stack) aws(endpoint string) aws.Config {
	return aws.Config{
		Region:       region,
		BaseEndpoint: &endpoint,
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.Proxy = nil // no variable of this machine may come between
			t.MaxIdleConnsPerHost = 64
		}),
	}
}

func (s *Stack) logFile(name string) (io.Writer, error) {
	path := filepath.Join(s.options.logs(), name)
	//nolint:gosec // below the stack's own folder
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening log: %w", err)
	}
	s.onClose(func() { _ = file.Close() })
	return file, nil
}

func (s *Stack) onClose(f func()) { s.closers = append(s.closers, f) }

// Close ends every process of the stack and removes its state file. It may be called more than once.
func (s *Stack) Close() {
	s.closing.Do(func() {
		s.end()
		for i := len(s.closers) - 1; i >= 0; i-- {
			s.closers[i]()
		}
	})
}

// Done is closed when the stack has lost its emulator and is of no more use.
func (s *Stack) Done() <-chan struct{} { return s.emulator.Done() }
