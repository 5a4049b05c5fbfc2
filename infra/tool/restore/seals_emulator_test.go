//go:build emulator

package main

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/herald-webhooks/herald/internal/edges/dynamo"
	"github.com/herald-webhooks/herald/internal/edges/keyring"
	"github.com/herald-webhooks/herald/internal/rules/deadletter"
	"github.com/herald-webhooks/herald/internal/rules/delivery"
	"github.com/herald-webhooks/herald/internal/rules/endpoint"
)

func TestRestore_sealsSecretsUnderTheOtherStacksKey(t *testing.T) {
	s := newScene(t)
	old := dynamo.NewEndpoints(s.client, s.copied.Endpoints)
	e := made(t, old, "acme")
	e.HeadersVersion, e.PublicKey, e.PreviousKey = 2, "whpk_new", "whpk_old"
	e.OAuth, e.OAuthVersion = &endpoint.OAuth{TokenURL: "https://id.example/"}, 3
	ofClient := keyring.ClientSecretOf(e)
	client, err := keyring.NewSecrets(s.kms, s.oldKey).Seal(t.Context(), ofClient, "client")
	if err != nil {
		t.Fatal(err)
	}
	id, ofHeaders, before := keyring.SecretOf(e), keyring.HeadersOf(e), keyring.PreviousOf(e)
	secret, err := keyring.NewSecrets(s.kms, s.oldKey).Seal(t.Context(), id, "whsec_secret")
	if err != nil {
		t.Fatal(err)
	}
	previous, err := keyring.NewSecrets(s.kms, s.oldKey).Seal(t.Context(), before, "whsec_before")
	if err != nil {
		t.Fatal(err)
	}
	headers, err := keyring.NewSecrets(s.kms, s.oldKey).Seal(t.Context(), ofHeaders, "X:y\n")
	if err != nil {
		t.Fatal(err)
	}
	want := change(t, old, e, func(e *endpoint.Endpoint) {
		e.SealedSecret, e.SealedHeaders, e.HeadersVersion, e.HeaderNames = secret, headers, 2, []string{"X"}
		e.SealedPrevious, e.PublicKey, e.PreviousKey = previous, "whpk_new", "whpk_old"
		e.OAuth, e.OAuthVersion, e.SealedOAuth = &endpoint.OAuth{TokenURL: "https://id.example/"}, 3, client
	})
	s.restored(options{table: "Endpoints", key: s.oldKey}, counts{Read: 2, Restored: 1, Left: 1, Mended: 1})
	got, found, err := dynamo.NewEndpoints(s.client, s.own.Endpoints).Get(t.Context(), "acme", e.ID)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	for _, sealed := range []struct {
		id   keyring.SecretID
		text []byte
		want string
	}{
		{id, got.SealedSecret, "whsec_secret"}, {before, got.SealedPrevious, "whsec_before"},
		{ofHeaders, got.SealedHeaders, "X:y\n"}, {ofClient, got.SealedOAuth, "client"},
	} {
		opened, err := keyring.NewSecrets(s.kms, s.ownKey).Open(t.Context(), sealed.id, sealed.text)
		if err != nil || opened != sealed.want {
			t.Errorf("%q, %v, want %q", opened, err, sealed.want)
		}
	}
	ofHeaders.URL = "https://thief.example/hooks"
	opened, err := keyring.NewSecrets(s.kms, s.ownKey).Open(t.Context(), ofHeaders, got.SealedHeaders)
	if !errors.Is(err, keyring.ErrUnopenable) {
		t.Errorf("the restored headers open for another origin: %q, %v", opened, err)
	}
	got.SealedSecret, got.SealedHeaders = want.SealedSecret, want.SealedHeaders
	got.SealedPrevious, got.SealedOAuth = want.SealedPrevious, want.SealedOAuth
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changed (-want +got)\n%s", diff)
	}
}

func TestRestore_sealsDeadLettersUnderTheOtherStacksKey(t *testing.T) {
	s := newScene(t)
	old := keyring.NewVault(s.kms, s.oldKey)
	own := keyring.NewVault(s.kms, s.ownKey)
	letters := dynamo.NewDeadLetters(s.client, s.copied.DeadLetters)
	record := deadletter.Record{
		Ref: delivery.Ref{
			DeliveryID: "msg_1", TenantID: "acme", EndpointID: "webhook_1", EventID: "e", CreatedAt: at,
		},
		EventType: "user.created", Reason: delivery.ReasonHTTP5xx, Attempts: 10, LastStatus: 503, DiedAt: at,
	}
	first := deadletter.Entry{Reason: record.Reason, DiedAt: at}
	var err error
	record.Sealed, err = old.SealDeath(t.Context(), record, deadletter.Death{Body: []byte("body"), Entry: first})
	if err != nil {
		t.Fatal(err)
	}
	if written, err := letters.Create(t.Context(), record); err != nil || !written {
		t.Fatal(written, err)
	}
	record.Replay, record.Reason, record.DiedAt = 1, delivery.ReasonTimeout, at.Add(time.Hour)
	second := deadletter.Entry{Replay: 1, Reason: record.Reason, DiedAt: record.DiedAt}
	entry, err := old.SealEntry(t.Context(), record, 2, second)
	if err != nil {
		t.Fatal(err)
	}
	record.Sealed = deadletter.Sealed{History: []deadletter.SealedEntry{entry}}
	if written, _, err := letters.Append(t.Context(), record, 2); err != nil || !written {
		t.Fatal(written, err)
	}

	s.restored(options{table: "DeadLetters", key: s.oldKey}, counts{Read: 1, Restored: 1})
	got, found, err := dynamo.NewDeadLetters(s.client, s.own.DeadLetters).Get(t.Context(), "msg_1")
	if err != nil || !found {
		t.Fatal(found, err)
	}
	opened, err := own.OpenAll(t.Context(), got)
	want := deadletter.Opened{Body: []byte("body"), History: []deadletter.Entry{first, second}}
	if diff := cmp.Diff(want, opened); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if _, err := old.OpenAll(t.Context(), got); err == nil {
		t.Error("the old key still opens it")
	}
}

// A copy with a redirected URL does not make headers for the new origin.
func TestRestore_sealsNoHeadersForAnotherOrigin(t *testing.T) {
	s := newScene(t)
	old := dynamo.NewEndpoints(s.client, s.copied.Endpoints)
	e := made(t, old, "acme")
	sealer := keyring.NewSecrets(s.kms, s.oldKey)
	secret, err := sealer.Seal(t.Context(), keyring.SecretOf(e), "whsec_secret")
	if err != nil {
		t.Fatal(err)
	}
	e.HeadersVersion = 1
	headers, err := sealer.Seal(t.Context(), keyring.HeadersOf(e), "X:y\n")
	if err != nil {
		t.Fatal(err)
	}
	e.HeadersVersion = 0
	change(t, old, e, func(e *endpoint.Endpoint) {
		e.SealedSecret, e.SealedHeaders, e.HeadersVersion = secret, headers, 1
		e.URL = "https://thief.example/hooks"
	})
	if _, err := s.restore(options{table: "Endpoints", key: s.oldKey}); !errors.Is(err, keyring.ErrUnopenable) {
		t.Errorf("restored: %v", err)
	}
	got, err := dynamo.NewEndpoints(s.client, s.own.Endpoints).List(t.Context(), "acme")
	if err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestRestore_namesWhatTheKeyDoesNotOpen(t *testing.T) {
	s := newScene(t)
	made(t, dynamo.NewEndpoints(s.client, s.copied.Endpoints), "acme") // not sealed at all
	if _, err := s.restore(options{table: "Endpoints", key: s.oldKey}); err == nil {
		t.Error("a secret that does not open was restored")
	}
	got, err := dynamo.NewEndpoints(s.client, s.own.Endpoints).List(t.Context(), "acme")
	if err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}
