package main

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"time"
)

// The size of the picture is that of the console's screenshots.
const (
	width, height = 1120, 724
	rowHeight     = 17
	rows          = (height - 2*rowHeight) / rowHeight
	columns       = 142
	baseline      = 4 // above the lower edge of a row
)

// Times of the picture. The program's own waits would take a minute and a half.
const (
	shortest, longest = 40 * time.Millisecond, 700 * time.Millisecond
	typing            = time.Second
	begin             = 4 * time.Second  // where it begins when it is first seen: the terminal is full
	reading           = 2 * time.Second  // the last lines
	looking           = 10 * time.Second // at the screenshot
)

// draw is the picture. The lines are one text, higher than the terminal, that moves up by whole lines.
func draw(command string, lines []line, screenshot string) []byte {
	var frames, text bytes.Buffer
	end := typing
	for _, l := range lines {
		end += min(max(l.after, shortest), longest)
	}
	all := end + reading + looking
	at := typing
	for n, l := range lines {
		at += min(max(l.after, shortest), longest)
		fmt.Fprintf(&frames, "%.2f%%{transform:translateY(%dpx)}", percent(at, all), -n*rowHeight)
		fmt.Fprintf(&text, "<text class=%q x=\"12\" y=\"%d\">%s</text>\n",
			class(l.text), (n+rows)*rowHeight-baseline, shown(l.text))
	}
	fade := percent(end+reading, all)
	var picture bytes.Buffer
	fmt.Fprintf(&picture, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">
<title>%s, and the console in an incident</title>
<style>
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#c9d1d9;white-space:pre}
.head{fill:#79c0ff;font-weight:bold}.holds{fill:#7ee787}.fails{fill:#ff7b72}.typed{fill:#fff;font-weight:bold}
.lines{animation:lines %.1fs step-end -%.0fs infinite}
.screenshot{animation:screenshot %.1fs linear -%.0fs infinite}
@keyframes lines{0%%{transform:translateY(%dpx)}%s}
@keyframes screenshot{0%%,%.2f%%{opacity:0}%.2f%%,99%%{opacity:1}100%%{opacity:0}}
@media (prefers-reduced-motion:reduce){.lines,.screenshot{animation:none}}
</style>
<rect width="100%%" height="100%%" rx="6" fill="#0d1117"/>
<text class="typed" x="12" y="22">$ %s</text>
<svg y="30" height="%d"><g class="lines">
%s</g></svg>
<image class="screenshot" width="%d" height="%d" preserveAspectRatio="xMidYMin slice" href="data:image/png;base64,%s"/>
</svg>
`, width, height, html.EscapeString(command), all.Seconds(), begin.Seconds(), all.Seconds(), begin.Seconds(),
		2*rowHeight, frames.String(),
		fade, fade+1.5, html.EscapeString(command), rows*rowHeight, text.String(), width, height, screenshot)
	return picture.Bytes()
}

func percent(at, of time.Duration) float64 { return 100 * at.Seconds() / of.Seconds() }

// shown is a line as the terminal shows it.
func shown(text string) string {
	if runes := []rune(text); len(runes) > columns {
		text = string(runes[:columns-1]) + "…"
	}
	return html.EscapeString(text)
}

// class is the colour of a line.
func class(text string) string {
	switch {
	case strings.HasPrefix(text, "──"):
		return "head"
	case strings.HasPrefix(text, "  ✓"):
		return "holds"
	case strings.HasPrefix(text, "  ✗"), strings.Contains(text, "receiver fails"):
		return "fails"
	default:
		return "line"
	}
}
