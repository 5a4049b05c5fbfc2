package console

import (
	"context"
	"html/template"
	"sync"
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/console/follow"
	"github.com/herald-webhooks/herald/infra/tool/herald/console/parts"
	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// Stack asks the operator functions of one stack. Errors are sentences for operators. A denial is [exit.ErrDenied],
// which a page shows in other words.
type Stack interface {
	stack.Functions
	May(ctx context.Context, function string) error // without invoking it: nil if the caller may, or why not
}

// Config configures the page. All fields are required.
type Config struct {
	Stack    Stack
	Metrics  Metrics
	Trail    Trail
	Log      Log
	Follow   follow.Log
	Changes  Changes
	LogCosts bool   // each look at the log: it is looked at on request alone
	Name     string // of the stack
	Place    string // the stack with its Region and account: no name alone tells two stacks apart
	Operator string
	Now      func() time.Time
}

// Server is a console on one address.
type Server struct {
	Config
	site    parts.Site // its base is known to no other program
	hosts   []string   // the page's own names, with its port; the first is the one that is printed
	token   string
	pages   *template.Template
	denials sync.Map // by function, of the last question about it
	tail    *follow.Tail
	drawn   drawing
}

// Metrics reads a stack's metrics. Each curve has a value for every step, NaN where nothing was measured.
type Metrics interface {
	Read(ctx context.Context, w stack.Window, curves []stack.Curve) ([][]float64, error)
	// Alarms are those that went off since then.
	Alarms(ctx context.Context, since time.Time) ([]stack.Mark, error)
	// LogBytes is about how many bytes of deliver's log a query of a window reads.
	LogBytes(ctx context.Context, in stack.Window) (float64, error)
}

// Trail reads a stack's audit log.
type Trail interface {
	// Acts are the audit lines of operators since then, the oldest first. Of jobs, they have the start and no single
	// ids. more says that later lines are missing.
	Acts(ctx context.Context, since time.Time) (acts []stack.Act, more bool, err error)
	// OfTenant are the lines about one tenant, of operators and of its keys, from now back as far as there is time for.
	OfTenant(ctx context.Context, tenantID string, now time.Time) (stack.TenantActs, error)
}

// Changes reads the history of a stack's deployments.
type Changes interface {
	// Deployments are those that went on at some time since then, the oldest first. Those that ended before reached are
	// missing, unless it is zero.
	Deployments(ctx context.Context, since time.Time) (all []stack.Deployment, reached time.Time, err error)
}

// Log reads deliver's log of a span of time.
type Log interface {
	// Attempts are those of one delivery, the oldest first.
	Attempts(ctx context.Context, deliveryID string, from, until time.Time) ([]stack.Attempt, error)
	// Shares are the tenants' parts, by their attempts.
	Shares(ctx context.Context, from, until time.Time) (stack.Shares, error)
	// EndpointShares are those of a tenant's endpoints, by their time.
	EndpointShares(ctx context.Context, tenantID string, from, until time.Time) (stack.Shares, error)
	// Outcomes are the attempts of a tenant or an endpoint by their outcomes.
	Outcomes(ctx context.Context, of stack.Tailed, w stack.Window) (stack.Outcomes, error)
}

// URL is the address that lets a browser in.
func (s *Server) URL() string { return "http://" + s.hosts[0] + s.site.Base + "/?token=" + s.token }
