package keyring

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

var errAWS = errors.New("ThrottlingException")

// call is one request to KMS.
type call struct {
	Action, Key string
	Context     map[string]string
	Input       string
}

// fakeKMS "encrypts" by prefixing, and remembers its calls.
type fakeKMS struct {
	mu    sync.Mutex
	calls []call
	err   error
	gate  chan struct{} // nil, or closed when it may answer
}

func (f *fakeKMS) record(action string, key *string, encryption map[string]string, input []byte) error {
	if f.gate != nil {
		<-f.gate
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call{action, aws.ToString(key), maps.Clone(encryption), string(input)})
	return f.err
}

func (f *fakeKMS) Encrypt(
	_ context.Context, in *kms.EncryptInput, _ ...func(*kms.Options),
) (*kms.EncryptOutput, error) {
	err := f.record("Encrypt", in.KeyId, in.EncryptionContext, in.Plaintext)
	return &kms.EncryptOutput{CiphertextBlob: append([]byte("sealed "), in.Plaintext...)}, err
}

func (f *fakeKMS) Decrypt(
	_ context.Context, in *kms.DecryptInput, _ ...func(*kms.Options),
) (*kms.DecryptOutput, error) {
	err := f.record("Decrypt", in.KeyId, in.EncryptionContext, in.CiphertextBlob)
	return &kms.DecryptOutput{Plaintext: append([]byte("opened "), in.CiphertextBlob...)}, err
}

func (f *fakeKMS) GenerateDataKey(
	_ context.Context, in *kms.GenerateDataKeyInput, _ ...func(*kms.Options),
) (*kms.GenerateDataKeyOutput, error) {
	err := f.record("GenerateDataKey "+string(in.KeySpec), in.KeyId, in.EncryptionContext, nil)
	return &kms.GenerateDataKeyOutput{Plaintext: []byte("plain"), CiphertextBlob: []byte("wrapped")}, err
}

var (
	secretID      = SecretID{TenantID: "acme", EndpointID: "webhook_1", Version: 3}
	secretContext = map[string]string{
		"purpose": "signing-secret", "tenant_id": "acme", "endpoint_id": "webhook_1", "secret_version": "3",
	}
)

// Threat of the account: moves sealed parts, URLs or keys between rows. Held by: all is bound to its row and origin:
// `unopenable`, an incident.
func TestSecrets_Seal_bindsToEndpointPurposeVersionAndOrigin(t *testing.T) {
	e := endpoint.Endpoint{
		TenantID: "acme", ID: "webhook_1", URL: "https://EXAMPLE.com/hooks?token=x", SecretVersion: 3, HeadersVersion: 7,
		OAuth: &endpoint.OAuth{TokenURL: "https://ID.example:8443/token?tenant=x"}, OAuthVersion: 9,
	}
	rotated := e
	rotated.SecretVersion, rotated.PublicKey, rotated.PreviousKey = 4, "whpk_new", "whpk_old"
	keyed := func(version, key string) map[string]string {
		bound := maps.Clone(secretContext)
		bound["secret_version"], bound["public_key"] = version, key
		return bound
	}
	for id, bound := range map[SecretID]map[string]string{
		SecretOf(e):         secretContext,
		SecretOf(rotated):   keyed("4", "whpk_new"),
		PreviousOf(rotated): keyed("3", "whpk_old"),
		HeadersOf(e): {
			"purpose": "headers", "tenant_id": "acme", "endpoint_id": "webhook_1", "headers_version": "7",
			"origin": "https://example.com:443",
		},
		ClientSecretOf(e): {
			"purpose": "client-secret", "tenant_id": "acme", "endpoint_id": "webhook_1", "oauth2_version": "9",
			"origin": "https://example.com:443", "token_origin": "https://id.example:8443",
		},
	} {
		client := &fakeKMS{}
		sealed, err := NewSecrets(client, "key").Seal(t.Context(), id, "X:y\n")
		if err != nil || string(sealed) != "sealed X:y\n" {
			t.Errorf("sealed is %q, %v", sealed, err)
		}
		if diff := cmp.Diff([]call{{"Encrypt", "key", bound, "X:y\n"}}, client.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
}

func TestSecrets_Open_asksKMSOnceForEachVersion(t *testing.T) {
	client := &fakeKMS{}
	secrets := NewSecrets(client, "key")
	next := SecretID{TenantID: "acme", EndpointID: "webhook_1", Version: 4}
	for _, id := range []SecretID{secretID, secretID, next, secretID, next} {
		secret, err := secrets.Open(t.Context(), id, []byte("s"))
		if err != nil {
			t.Fatal(err)
		}
		if secret != "opened s" {
			t.Errorf("opened as %q", secret)
		}
	}
	nextContext := maps.Clone(secretContext)
	nextContext["secret_version"] = "4"
	want := []call{{"Decrypt", "key", secretContext, "s"}, {"Decrypt", "key", nextContext, "s"}}
	if diff := cmp.Diff(want, client.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// After a rotation, a restore of the table and another rotation, a version names another secret than before.
func TestSecrets_Open_tellsTwoSecretsOfOneVersionApart(t *testing.T) {
	client := &fakeKMS{}
	secrets := NewSecrets(client, "key")
	for _, sealed := range []string{"before", "after", "before", "", "after"} {
		secret, err := secrets.Open(t.Context(), secretID, []byte(sealed))
		if err != nil || secret != "opened "+sealed {
			t.Errorf("%q is opened as %q, %v", sealed, secret, err)
		}
	}
	if len(client.calls) != 3 {
		t.Errorf("%d calls for three secrets", len(client.calls))
	}
}

// The cache must not answer for another id with the same sealed bytes, even where two ids read the same when their
// parts are written in a row.
func TestSecrets_Open_asksKMSForEachIDWithTheSameBytes(t *testing.T) {
	client := &fakeKMS{}
	secrets := NewSecrets(client, "key")
	ids := []SecretID{
		{TenantID: "acme\x00webhook_1"}, {TenantID: "acme", EndpointID: "webhook_1"}, {EndpointID: "acme\x00webhook_1"},
		{TenantID: "acme", EndpointID: "webhook_1\x00"}, {TenantID: "acme\x00webhook_1\x00", Version: 1},
		{TenantID: "acme", EndpointID: "webhook_1", Version: 1},
		{TenantID: "acme", EndpointID: "webhook_1", Version: 11}, {TenantID: "acme", EndpointID: "webhook_11", Version: 1},
		{TenantID: "acme", EndpointID: "webhook_1", PublicKey: "whpk_1"},
		{TenantID: "acme", EndpointID: "webhook_1", PublicKey: "whpk_2"},
		{TenantID: "acme", EndpointID: "webhook_1", Headers: true, URL: "https://a.example"},
		{TenantID: "acme", EndpointID: "webhook_1", Headers: true, URL: "https://b.example"},
	}
	for n, id := range slices.Concat(ids, ids) {
		if _, err := secrets.Open(t.Context(), id, []byte("s")); err != nil || len(client.calls) != min(n+1, len(ids)) {
			t.Errorf("%d calls after %d ids, %v", len(client.calls), n+1, err)
		}
	}
}

// Headers without an origin to bind them to are neither sealed nor opened.
func TestSecrets_refuseHeadersWithoutAnOrigin(t *testing.T) {
	client := &fakeKMS{}
	secrets := NewSecrets(client, "key")
	for _, url := range []string{"", "http://a.example", "https://b.example@a.example/", "https://localhost"} {
		id := SecretID{TenantID: "acme", EndpointID: "webhook_1", Version: 1, Headers: true, URL: url}
		if sealed, err := secrets.Seal(t.Context(), id, "X:y\n"); err == nil {
			t.Errorf("%q: sealed as %q", url, sealed)
		}
		if text, err := secrets.Open(t.Context(), id, []byte("sealed")); !errors.Is(err, ErrUnopenable) {
			t.Errorf("%q: opened as %q, %v", url, text, err)
		}
	}
	if len(client.calls) > 0 {
		t.Errorf("KMS is asked: %+v", client.calls)
	}
}

// Of KMS's errors only those about the ciphertext say that it will never open.
func TestSecrets_Open_tellsWhatNeverOpensFromWhatDoesNotOpenNow(t *testing.T) {
	for refused, want := range map[error]bool{
		&types.InvalidCiphertextException{}: true, &types.IncorrectKeyException{}: true,
		&types.KMSInternalException{}: false, &types.DisabledException{}: false, errAWS: false, context.Canceled: false,
	} {
		_, err := NewSecrets(&fakeKMS{err: refused}, "key").Open(t.Context(), secretID, []byte("s"))
		if errors.Is(err, ErrUnopenable) != want || !errors.Is(err, refused) {
			t.Errorf("%T becomes %v", refused, err)
		}
	}
}

func TestSecrets_Open_remembersNoError(t *testing.T) {
	client := &fakeKMS{err: errAWS}
	secrets := NewSecrets(client, "key")
	if _, err := secrets.Open(t.Context(), secretID, []byte("s")); !errors.Is(err, errAWS) {
		t.Errorf("the error is %v", err)
	}
	client.err = nil
	if _, err := secrets.Open(t.Context(), secretID, []byte("s")); err != nil {
		t.Error(err)
	}
}

func TestSecrets_Open_keepsTheNewestAndNoMoreThanItsBound(t *testing.T) {
	client := &fakeKMS{}
	secrets := NewSecrets(client, "key")
	for version := range maxOpen + 1 {
		if _, err := secrets.Open(t.Context(), SecretID{Version: version}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if secrets.open.Len() != maxOpen {
		t.Errorf("%d plaintexts are in memory, want %d", secrets.open.Len(), maxOpen)
	}
	if _, err := secrets.Open(t.Context(), SecretID{Version: maxOpen}, nil); err != nil || len(client.calls) != maxOpen+1 {
		t.Errorf("%d calls, %v: the newest is asked for again", len(client.calls), err)
	}
}

// Deliveries that wait for the same secret share a call, and never the secret of another.
func TestSecrets_Open_sharesACallOnlyForTheSameSecret(t *testing.T) {
	ids := []SecretID{
		{"acme", "webhook_1", 3, "", false, "", ""}, {"globex", "webhook_1", 3, "", false, "", ""},
		{"acme", "webhook_2", 3, "", false, "", ""},
		{"acme", "webhook_1", 4, "", false, "", ""}, {"acme", "webhook_1", 3, "", true, "", "https://a.example"},
		{"acme", "webhook_1", 3, "whpk_1", false, "", ""}, {"acme", "webhook_1", 3, "", true, "", "https://b.example"},
		{"acme", "webhook_1", 3, "", false, "https://c.example", "https://a.example"},
		{"acme", "webhook_1", 3, "", false, "https://d.example", "https://a.example"},
		{"acme", "webhook_1", 3, "", false, "", ""},
	}
	synctest.Test(t, func(t *testing.T) {
		client := &fakeKMS{gate: make(chan struct{})}
		secrets := NewSecrets(client, "key")
		var wait sync.WaitGroup
		for n, id := range slices.Repeat(ids, 3) {
			sealed := fmt.Sprint(n % len(ids))
			wait.Go(func() {
				if secret, err := secrets.Open(t.Context(), id, []byte(sealed)); err != nil || secret != "opened "+sealed {
					t.Errorf("%v is opened as %q, %v", id, secret, err)
				}
			})
		}
		synctest.Wait()
		close(client.gate)
		wait.Wait()
		if len(client.calls) != len(ids) {
			t.Errorf("%d calls, want one for each of %d secrets: %+v", len(client.calls), len(ids), client.calls)
		}
	})
}

func TestErrorsOfKMSArePassedOn(t *testing.T) {
	client := &fakeKMS{err: errAWS}
	keys := NewVault(client, "key").Keys
	_, sealing := NewSecrets(client, "key").Seal(t.Context(), secretID, "s")
	_, _, generating := keys.Generate(t.Context(), nil)
	_, unwrapping := keys.Unwrap(t.Context(), nil, nil)
	for _, err := range []error{sealing, generating, unwrapping} {
		if !errors.Is(err, errAWS) {
			t.Errorf("the error is %v", err)
		}
	}
}

// Secrets in use stay open, whatever number of others a tenant has opened by rotating its own.
func TestSecrets_Open_keepsSecretsInUseThroughAFlood(t *testing.T) {
	client := &fakeKMS{}
	secrets := NewSecrets(client, "key")
	const inUse, flood = 5, maxOpen + 2000
	for version := range flood {
		for n := range inUse {
			if _, err := secrets.Open(t.Context(), SecretID{TenantID: "used", Version: n}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := secrets.Open(t.Context(), SecretID{TenantID: "flood", Version: version}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if again := len(client.calls) - flood - inUse; again != 0 {
		t.Errorf("%d secrets in use were asked for again", again)
	}
}
