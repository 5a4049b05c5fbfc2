package pages

import (
	"bytes"
	"cmp"
	_ "embed" // the layout, the style and the search
	"encoding/hex"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed static/layout.html
var layout string

//go:embed static/site.css
var style string

//go:embed static/search.js
var search []byte

//go:embed static/icon.svg
var icon []byte

// render makes the files of all pages, and llms.txt.
func (w *site) render() error {
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return fmt.Errorf("parsing the layout: %w", err)
	}
	for _, p := range w.pages {
		body, err := asHTML(p.text)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, w.view(p, body)); err != nil {
			return fmt.Errorf("writing %s: %w", p.name, err)
		}
		w.files[p.name+".html"] = b.Bytes()
		w.files[p.name+".md"] = []byte(p.text)
	}
	w.files["site.css"] = []byte(w.colors() + style)
	w.files["search.js"] = search
	w.files["icon.svg"] = icon
	if w.Logo != "" {
		w.files[w.Logo] = w.logo
	}
	w.files["llms.txt"] = w.forModels()
	return nil
}

// view has the values of the layout.
type view struct {
	Settings
	Brand string
	Page  page
	Title string
	Body  template.HTML
	Nav   []page
}

func (w *site) view(p page, body []byte) view {
	//nolint:gosec // goldmark has escaped the body
	v := view{Settings: w.Settings, Brand: w.Name, Page: p, Title: plain(p.title()), Body: template.HTML(body)}
	if w.webhooks {
		v.Brand += " webhooks"
	}
	for _, each := range w.pages {
		if !each.inside {
			v.Nav = append(v.Nav, each)
		}
	}
	return v
}

// Heading is the title in the navigation.
func (p page) Heading() string { return plain(p.title()) }

// File is the page's name without an ending.
func (p page) File() string { return p.name }

// plain takes the backslashes from an escaped text.
func plain(markdown string) string {
	var b strings.Builder
	for i := 0; i < len(markdown); i++ {
		if markdown[i] == '\\' && i+1 < len(markdown) {
			i++
		}
		b.WriteByte(markdown[i])
	}
	return b.String()
}

// asHTML is the page's text. The library leaves out raw HTML and dangerous addresses.
func asHTML(markdown string) ([]byte, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	source := []byte(markdown)
	ids := parser.WithContext(parser.NewContext(parser.WithIDs(anchors{})))
	tree := md.Parser().Parse(text.NewReader(source), ids)
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering && !strings.Contains(string(l.Destination), ":") {
			name, anchor, _ := strings.Cut(string(l.Destination), "#")
			if page, found := strings.CutSuffix(name, ".md"); found {
				name = page + ".html"
			}
			if anchor != "" {
				name += "#" + anchor
			}
			l.Destination = []byte(name)
		}
		return ast.WalkContinue, nil
	})
	var b bytes.Buffer
	if err == nil {
		err = md.Renderer().Render(&b, source, tree)
	}
	if err != nil {
		return nil, fmt.Errorf("rendering: %w", err)
	}
	return b.Bytes(), nil
}

// The colours of a page's background. The style sheet has the same ones.
const (
	lightBack = "#ffffff"
	darkBack  = "#14181d"
)

// colors sets the adopter's colours: of the head with black or white on it, one of which is legible on any colour, and
// of links only where they are legible.
func (w *site) colors() string {
	one := func(accent, back, link string) string {
		on := "#ffffff"
		if contrast(accent, "#000000") > contrast(accent, on) {
			on = "#000000"
		}
		if contrast(accent, back) >= 4.5 {
			link = accent
		}
		return fmt.Sprintf("--accent: %s; --on: %s; --link: %s;", accent, on, link)
	}
	light := cmp.Or(w.Accent, "#0b4f7a")
	return ":root { " + one(light, lightBack, "#0550ae") + " }\n@media (prefers-color-scheme: dark) { :root { " +
		one(cmp.Or(w.AccentDark, light), darkBack, "#79b8ff") + " } }\n"
}

// contrast is that of WCAG 2, from 1 to 21.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(color string) float64 {
	parts, _ := hex.DecodeString(color[1:]) // Read has checked it
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(parts[i]) / 255
		if c <= 0.04045 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return sum
}

// linked writes the characters otherwise that would end an address in Markdown.
var linked = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", `\`, "%5C")

// forModels is llms.txt (https://llmstxt.org).
func (w *site) forModels() []byte {
	var b strings.Builder
	base := ""
	if w.Site != "" {
		base = linked.Replace(strings.TrimSuffix(w.Site, "/") + "/")
	}
	title := escaped(w.Name)
	if w.webhooks {
		title = "Webhooks of " + title
	}
	fmt.Fprintf(&b, "# %s\n\n> %s\n\n## Pages\n\n", title, w.about)
	for _, p := range w.pages {
		fmt.Fprintf(&b, "- [%s](%s%s.md)\n", p.title(), base, p.name)
	}
	if w.webhooks {
		fmt.Fprintf(&b, "\n## Optional\n\n- [API description](%sopenapi.yaml): OpenAPI 3.1\n", base)
	}
	return []byte(b.String())
}
