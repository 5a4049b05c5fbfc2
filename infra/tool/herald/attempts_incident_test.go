//go:build emulator && incident

package main

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/herald-webhooks/herald/infra/examples"
)

// followsAndDraws follows attempts and draws a chart of them, by the keyboard alone.
func (b *browser) followsAndDraws(t *testing.T, i incident) {
	t.Helper()
	enter := func(button string) {
		b.tabTo(t, button)
		b.do(t, chromedp.KeyEvent(kb.Enter))
	}
	b.visit(t, "/tail?tenant_id=acme", "Follow attempts of acme")
	enter(`form[action$="/tail/start"] button`)
	b.says(t, "following")
	i.publish(t, examples.Message{TenantID: "acme", Type: "user.created", Data: jsontext.Value(`{"userId":"user_1"}`)})
	b.says(t, "acknowledged") // the page asks again by itself
	b.isTextAndAccessible(t)
	enter(`form[action$="/tail/stop"] button`)
	b.says(t, "somebody ended it here")
	b.visit(t, "/chart?tenant_id=acme", "Draw attempts of acme")
	enter(`form[action$="/chart/draw"] button`)
	b.says(t, "Drawn: attempts of acme")
	b.do(t, chromedp.WaitVisible(chromedp.CSS("main svg.chart")))
	b.isTextAndAccessible(t)
}
