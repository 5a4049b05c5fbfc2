package deployerpolicy

// feature is a property for which AWS asks the caller for rights that the schema of its type does not name.
type feature struct {
	sid, kind, property string
	page                string // of AWS, which names the rights
	actions             []string
	resource            string
	forService          string // of iam:CreateServiceLinkedRole
}

// features are all such properties of the template.
var features = []feature{
	{
		sid: "AccessLogs", kind: "AWS::ApiGatewayV2::Stage", property: "AccessLogSettings",
		page: "https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-logging.html",
		actions: []string{
			"logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:GetLogDelivery", "logs:ListLogDeliveries",
			"logs:UpdateLogDelivery",
		}, resource: "*",
	},
	{
		sid: "ApiRole", kind: "AWS::ApiGatewayV2::Api", property: "Body",
		page:       "https://docs.aws.amazon.com/apigateway/latest/developerguide/using-service-linked-roles.html",
		actions:    []string{"iam:CreateServiceLinkedRole"},
		resource:   "arn:aws:iam::*:role/aws-service-role/ops.apigateway.amazonaws.com/*",
		forService: "ops.apigateway.amazonaws.com",
	},
	{
		sid: "ScaleTables", kind: "AWS::ApplicationAutoScaling::ScalableTarget", property: "ScalableDimension",
		page: "https://docs.aws.amazon.com/autoscaling/application/userguide/" +
			"application-auto-scaling-service-linked-roles.html",
		actions:    []string{"iam:CreateServiceLinkedRole"},
		resource:   "arn:aws:iam::*:role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/*",
		forService: "dynamodb.application-autoscaling.amazonaws.com",
	},
	{
		sid: "ScalingAlarms", kind: "AWS::ApplicationAutoScaling::ScalingPolicy",
		property: "TargetTrackingScalingPolicyConfiguration",
		page: "https://docs.aws.amazon.com/autoscaling/application/userguide/" +
			"security_iam_id-based-policy-examples.html",
		actions:  []string{"cloudwatch:DeleteAlarms", "cloudwatch:PutMetricAlarm"},
		resource: "arn:aws:cloudwatch:*:*:alarm:TargetTracking-*",
	},
}

// statement is what the policy allows for a feature.
func (f feature) statement() statement {
	s := statement{f.sid, "Allow", f.actions, []string{f.resource}, nil}
	if f.forService != "" {
		s.Condition = map[string]any{"StringEquals": map[string]any{"iam:AWSServiceName": f.forService}}
	}
	return s
}
