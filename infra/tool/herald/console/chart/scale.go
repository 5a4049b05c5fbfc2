package chart

import (
	"time"

	"github.com/herald-webhooks/herald/infra/tool/herald/stack"
)

// The sizes of a chart, in pixels.
const (
	chartWidth, chartHeight = 600, 220
	plotLeft, plotTop       = 52, 52
	plotRight               = 10
	plotBottom              = chartHeight - 34
)

// scale tells where in a chart a moment and a value stand.
type scale struct {
	window stack.Window
	most   float64 // the upper end, for values
}

// end is the end of the time that is shown.
func (s scale) end() time.Time {
	return s.window.From.Add(s.window.Step * time.Duration(s.window.Steps))
}

// x is where a moment stands.
func (s scale) x(at time.Time) float64 {
	part := float64(at.Sub(s.window.From)) / float64(s.end().Sub(s.window.From))
	return plotLeft + part*(chartWidth-plotLeft-plotRight)
}

// y is where a value stands.
func (s scale) y(v float64) float64 { return plotBottom - v/s.most*(plotBottom-plotTop) }

// ends is the end of a step.
func (s scale) ends(step int) time.Time {
	return s.window.From.Add(s.window.Step * time.Duration(step+1))
}
