// Command client takes an endpoint through its life by the client that oapi-codegen makes of
// infra/openapi.yaml.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/herald-webhooks/herald/infra/clients/go/herald"
)

const url = "https://example.com/hooks"

func main() {
	ctx := context.Background()
	api := client(os.Getenv("API"), os.Getenv("KEY"))
	life(ctx, api)
	faults(ctx, api)
	later(ctx, client(os.Getenv("LATER_API"), "hk_any"))
}

func client(server, key string) *herald.ClientWithResponses {
	authorize := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	return sent(herald.NewClientWithResponses(server, herald.WithRequestEditorFn(authorize)))
}

// sent returns an answer, of whatever status, or ends the program where there is none.
func sent[T any](res T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
	return res
}

// answer is the common part of all generated answers.
type answer interface{ StatusCode() int }

// must returns the decoded body: a documented status has one.
func must[T any](res answer, body *T) *T {
	if body == nil {
		fmt.Fprintf(os.Stderr, "client: %T has status %d and no body\n", res, res.StatusCode())
		os.Exit(1)
	}
	return body
}

func fault(what string, res answer, p *herald.Problem) {
	must(res, p)
	where := "-"
	if p.Errors != nil {
		var fields []string
		for _, e := range *p.Errors {
			if e.Pointer != nil {
				fields = append(fields, *e.Pointer)
			} else {
				fields = append(fields, *e.Parameter)
			}
		}
		where = strings.Join(fields, ",")
	}
	fmt.Println(what, res.StatusCode(), p.Status, p.Code, where)
}

func joined(events []herald.Subscribed) string { return strings.Join(events, ",") }
