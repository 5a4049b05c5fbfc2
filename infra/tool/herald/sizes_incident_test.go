//go:build emulator && incident

package main

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/herald-webhooks/herald/infra/kit/client"
)

// rowsOfButtons counts the rows that an endpoint's buttons take.
const rowsOfButtons = `new Set([...document.querySelectorAll(".head .acts li")].map(li => li.offsetTop)).size`

// millions gives each tile a great number.
const millions = `[...document.querySelectorAll(".tiles b")].map(b => b.textContent = "1,234,567").length`

// cutTiles counts the tiles that are narrower than their text.
const cutTiles = `[...document.querySelectorAll(".tiles li")].filter(li => li.scrollWidth > li.clientWidth).length`

// fits goes by keys from a pasted id to its page, and looks at it in a narrow and in a wide window.
func (b *browser) fits(t *testing.T, e client.Endpoint) {
	t.Helper()
	b.visit(t, "/", "Why deliveries died")
	b.do(t, chromedp.KeyEvent("g"), chromedp.KeyEvent("l"), chromedp.WaitVisible(chromedp.CSS(`th.tick`)))
	b.do(t, chromedp.KeyEvent("/"), chromedp.KeyEvent("  "+e.ID+" "), chromedp.KeyEvent(kb.Enter))
	b.says(t, "crm")
	shown := "/endpoint?tenant_id=acme&endpoint_id=" + e.ID
	longest := strings.Repeat("x", 128) // a tenant's id
	for width, most := range map[int64]int{390: 400, 400: 400, 560: 400, 1280: 60, 1920: 60} {
		devtools(t, b, emulation.SetDeviceMetricsOverride,
			emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 860, DeviceScaleFactor: 1})
		for _, path := range []string{
			"/dead", "/rejected", "/acts", "/traffic", "/tail", "/chart?tenant_id=acme", "/tenant?tenant_id=acme",
			"/event?tenant_id=acme&event_id=evt_1", "/event?event_id=evt_1&rejected=1", "/",
			"/tail?tenant_id=" + longest, "/chart?tenant_id=" + longest,
			"/confirm?act=resume_tenant&tenant_id=" + longest, shown,
		} {
			b.visit(t, path, "")
			script[int](t, b, millions)
			over := script[int](t, b, `document.documentElement.scrollWidth - innerWidth`)
			if cut := script[int](t, b, cutTiles); cut > 0 {
				t.Errorf("%s at %d: %d tiles have no room for their number", path, width, cut)
			}
			if high := script[int](t, b, `document.querySelector("header").offsetHeight`); over > 0 || high > most {
				t.Errorf("%s at %d: %d pixels too wide, the header is %d high", path, width, over, high)
			}
		}
		buttons := script[int](t, b, `document.querySelectorAll(".head .acts li").length`)
		rows := script[int](t, b, rowsOfButtons)
		if buttons < 2 || width > 390 && rows == buttons || width == 1280 && rows > 1 {
			t.Errorf("at %d: %d buttons in %d rows", width, buttons, rows)
		}
		if name := map[int64]string{390: "console-narrow.png", 1280: "console-endpoint.png"}[width]; name != "" {
			b.picture(t, name, "light")
		}
	}
	devtools(t, b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
}
