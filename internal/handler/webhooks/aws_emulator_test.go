//go:build emulator

package webhooks_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/herald-webhooks/herald/internal/apikey"
	"github.com/herald-webhooks/herald/internal/dynamo"
	"github.com/herald-webhooks/herald/internal/keyring"
	"github.com/herald-webhooks/herald/internal/testkit"
)

// real is the handler on the real stores, behind a fault proxy.
type real struct {
	*world
	faults *testkit.Faults
	keys   *dynamo.APIKeys
	store  *dynamo.Endpoints
	opener *keyring.Secrets // what deliver has
}

func newReal(t *testing.T) *real {
	t.Helper()
	cfg := testkit.Moto(t)
	names, keyARN, faults := testkit.Tables(t, cfg), testkit.Key(t, cfg), testkit.NewFaults(t, cfg)
	tables := dynamodb.NewFromConfig(faults.Config())
	r := &real{
		world: newWorld(t), faults: faults,
		keys:   dynamo.NewAPIKeys(dynamodb.NewFromConfig(cfg), names.ApiKeys),
		store:  dynamo.NewEndpoints(dynamodb.NewFromConfig(cfg), names.Endpoints),
		opener: keyring.NewSecrets(kms.NewFromConfig(cfg), keyARN),
	}
	r.handler.Endpoints = dynamo.NewEndpoints(tables, names.Endpoints)
	r.handler.Keys = dynamo.NewAPIKeys(tables, names.ApiKeys)
	r.handler.Secrets = keyring.NewSecrets(kms.NewFromConfig(faults.Config()), keyARN)
	return r
}

func (r *real) issue(tenant string) string {
	r.t.Helper()
	text := r.world.issue(tenant, apikey.Scopes()...)
	id, _ := apikey.ParseID(text)
	if err := r.keys.Put(r.t.Context(), r.world.keys[id]); err != nil {
		r.t.Fatal(err)
	}
	return text
}

// secret is the stored secret in plaintext.
func (r *real) secret(id string) string {
	r.t.Helper()
	e, found, err := r.store.Get(r.t.Context(), "acme", id)
	if err != nil || !found {
		r.t.Fatalf("reading %s: %v %v", id, found, err)
	}
	text, err := r.opener.Open(
		r.t.Context(),
		keyring.SecretID{TenantID: "acme", EndpointID: id, Version: e.SecretVersion},
		e.SealedSecret,
	)
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

func TestHandler_Serve_needsFewRoundTripsToDynamoDB(t *testing.T) {
	r := newReal(t)
	key := r.issue("acme")
	path := "/v1/webhooks/" + r.create(key).ID
	for _, test := range []struct {
		method, target, body string
		most                 int
	}{
		{"POST", "/v1/webhooks", r.fresh(), 4}, // it looks at the other URLs
		{"GET", "/v1/webhooks", "", 2},
		{"GET", "/v1/webhooks/event-types", "", 1},
		{"GET", path, "", 2},
		{"PATCH", path, `{"description":"x"}`, 3},
		{"POST", path + "/rotate-secret", "", 3},
		{"DELETE", path, "", 4},            // it counts the deleted, too
		{"POST", path + "/restore", "", 4}, // the row has a key of its own
	} {
		r.faults.Reset()
		a := r.do(key, test.method, test.target, test.body)
		n := 0
		for _, c := range r.faults.Calls("") {
			if c.Service == "dynamodb" {
				n++
			}
		}
		if a.status >= 300 || n > test.most {
			t.Errorf("%s %s: %d with %d round trips, at most %d", test.method, test.target, a.status, n, test.most)
		}
	}
}

func TestHandler_Serve_showsTheSecretThatIsStored(t *testing.T) {
	r := newReal(t)
	key := r.issue("acme")
	e := r.create(key)
	if r.secret(e.ID) != e.SigningSecret {
		t.Error("create shows another secret")
	}
	var rotated shown
	r.do(key, "POST", "/v1/webhooks/"+e.ID+"/rotate-secret", "").decode(t, &rotated)
	if r.secret(e.ID) != rotated.SigningSecret || rotated.SigningSecret == e.SigningSecret {
		t.Error("rotate shows another secret")
	}
	r.do(key, "DELETE", "/v1/webhooks/"+e.ID, "")
	r.do(key, "POST", "/v1/webhooks/"+e.ID+"/restore", "")
	if r.secret(e.ID) != rotated.SigningSecret {
		t.Error("restore changes the secret")
	}
	r.do(key, "PATCH", "/v1/webhooks/"+e.ID, `{"headers":{"Authorization":"Bearer s3cret"}}`)
	stored, _, err := r.store.Get(t.Context(), "acme", e.ID)
	if err != nil {
		t.Fatal(err)
	}
	id := keyring.SecretID{TenantID: "acme", EndpointID: e.ID, Version: 1, Headers: true}
	headers, err := r.opener.Open(t.Context(), id, stored.SealedHeaders)
	if err != nil || headers != "Authorization:Bearer s3cret\n" {
		t.Errorf("headers %q, %v", headers, err)
	}
	for _, c := range r.faults.Calls("") {
		body := string(c.Body)
		if c.Service == "dynamodb" && (strings.Contains(body, e.SigningSecret) || strings.Contains(body, "s3cret")) {
			t.Error("a secret reaches DynamoDB in plaintext")
		}
		if c.Action == "Decrypt" {
			t.Error("the management API decrypts")
		}
	}
}
