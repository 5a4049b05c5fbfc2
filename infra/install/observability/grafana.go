package observability

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cloudwatch"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/text"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"github.com/herald-webhooks/herald/infra/kit/alarms"
	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// Grafana is the stack's dashboard for Grafana, with the data source CloudWatch. Its reader chooses data source,
// Region, stack and stage.
func Grafana(root string) ([]byte, error) {
	widgets, tables, err := layout(filepath.Join(root, "template.yaml"))
	if err != nil {
		return nil, err
	}
	//nolint:staticcheck // older Grafanas read this model alone
	b := dashboard.NewDashboardBuilder("Herald").Uid("herald").Tags([]string{"herald", "webhooks"}).
		Time("now-3h", "now").Refresh("1m").Timezone("browser")
	for _, v := range variables(tables) {
		b.WithVariable(v)
	}
	for _, w := range widgets {
		if len(w.Lines) == 0 {
			b.WithPanel(text.NewPanelBuilder().Mode(text.TextModeMarkdown).Content(w.Text).
				Span(uint32(w.Width)).Height(2).Transparent(true)) //nolint:gosec // 24 at most
			continue
		}
		b.WithPanel(panel(w))
	}
	made, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("building the dashboard: %w", err)
	}
	out, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the dashboard: %w", err)
	}
	return append(out, '\n'), nil
}

// layout reads the dashboard of the template. Names of resources are as Grafana finds them: those that the template
// makes of the stack's name, and variables for tables, to whose names CloudFormation adds letters.
func layout(file string) (widgets []alarms.Widget, tables []string, err error) {
	template, err := cfn.Read(file)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // it names the template
	}
	name := func(reference string) string {
		switch reference {
		case "AWS::Region":
			return "$region"
		case "Stage":
			return "$stage"
		}
		id, _, _ := strings.Cut(reference, ".")
		for _, property := range []string{"QueueName", "FunctionName"} {
			if given, ok := cfn.At(template.Resources[id].Properties, property)["Fn::Sub"].(string); ok {
				return strings.ReplaceAll(given, "${AWS::StackName}", "$stack")
			}
		}
		if !slices.Contains(tables, id) {
			tables = append(tables, id)
		}
		return "$" + id
	}
	for _, r := range template.OfType("AWS::CloudWatch::Dashboard") {
		body, _ := cfn.At(r.Properties, "DashboardBody")["Fn::Sub"].(string)
		widgets, err = alarms.Layout(os.Expand(body, name))
		return widgets, tables, err
	}
	return nil, nil, errors.New("the template has no dashboard")
}

// source is the data source that the reader chooses.
var source = common.DataSourceRef{Type: cog.ToPtr("cloudwatch"), Uid: cog.ToPtr("$datasource")}

// variables are what the reader chooses, and the names of tables, which follow from it.
func variables(tables []string) []cog.Builder[dashboard.VariableModel] {
	typed := func(name, value string) cog.Builder[dashboard.VariableModel] {
		return dashboard.NewTextBoxVariableBuilder(name).DefaultValue(dashboard.StringOrMap{String: &value})
	}
	asked := func(name string, query map[string]any) *dashboard.QueryVariableBuilder {
		query["refId"] = "CloudWatchVariableQueryEditor-VariableQuery"
		return dashboard.NewQueryVariableBuilder(name).Datasource(source).Query(dashboard.StringOrMap{Map: query}).
			Refresh(dashboard.VariableRefreshOnDashboardLoad)
	}
	all := []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").Type("cloudwatch"),
		asked("region", map[string]any{"queryType": "regions"}),
		typed("stack", "herald-prod"), typed("stage", "prod"),
	}
	for _, table := range tables {
		names := map[string]any{
			"queryType": "dimensionValues", "region": "$region", "namespace": "AWS/DynamoDB",
			"metricName": "ConsumedWriteCapacityUnits", "dimensionKey": "TableName", "dimensionFilters": map[string]any{},
		}
		all = append(all, asked(table, names).Regex("/^$stack-"+table+"-/").Hide(dashboard.VariableHideHideVariable))
	}
	return all
}

// units are those that the titles of widgets end with.
var units = map[string]string{"(s)": "s", "(ms)": "ms", "(share)": "percentunit"}

// panel is a widget with metrics.
func panel(w alarms.Widget) *timeseries.PanelBuilder {
	legend := common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeList).
		Placement(common.LegendPlacementBottom).ShowLegend(true)
	tooltip := common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)
	p := timeseries.NewPanelBuilder().Title(w.Title).Datasource(source).Min(0).Legend(legend).Tooltip(tooltip).
		Span(uint32(w.Width)).Height(8) //nolint:gosec // 24 at most
	if unit, found := units[w.Title[strings.LastIndex(w.Title, " ")+1:]]; found {
		p.Unit(unit)
	}
	if w.Mark > 0 {
		p.Thresholds(dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(
			[]dashboard.Threshold{{Color: "green"}, {Value: &w.Mark, Color: "red"}}))
		p.ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeLine))
	}
	for n, l := range w.Lines {
		dimensions := cloudwatch.Dimensions{}
		for name, value := range l.Metric.Dimensions() {
			dimensions[name] = cloudwatch.StringOrArrayOfString{String: &value}
		}
		query := cloudwatch.NewMetricsQueryBuilder().RefId(string(rune('A' + n))).Region("$region").
			MetricQueryType(cloudwatch.MetricQueryTypeSearch).MetricEditorMode(cloudwatch.MetricEditorModeBuilder).
			Namespace(l.Metric.Namespace).MetricName(l.Metric.Name).Dimensions(dimensions).MatchExact(true).
			Statistic(l.Stat).Period("60").Label(l.Label)
		p.WithTarget(cloudwatch.NewMetricsQueryOrLogsQueryOrAnnotationQueryBuilder().MetricsQuery(query))
	}
	return p
}
