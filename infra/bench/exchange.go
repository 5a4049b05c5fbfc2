package main

import (
	"context"
	"fmt"
	"time"

	"github.com/herald-webhooks/herald/internal/delivery"
	"github.com/herald-webhooks/herald/internal/egress"
)

// exchange measures Herald's own HTTP client, called as the bare client is: no queue, no state, no
// log.
func exchange(in workload) (measurement, error) {
	policy, err := egress.ParsePolicy(allowedCIDRs, allowedPorts, egress.LocalStage)
	if err != nil {
		return measurement{}, err
	}
	client := egress.New(egress.Config{Policy: policy, ConnectTimeout: 5 * time.Second, AttemptTimeout: 15 * time.Second})
	defer client.Close()
	return posts(in, func(id string, body []byte) error {
		timestamp, signed := sign(id, body)
		answer := client.Post(context.Background(), delivery.Request{
			TenantID: tenant, URL: in.Receiver, Body: body, Header: []delivery.Field{
				{Name: "Content-Type", Value: "application/json"}, {Name: "User-Agent", Value: "Herald/bench"},
				{Name: "Wh-Id", Value: id}, {Name: "Wh-Timestamp", Value: timestamp},
				{Name: "Wh-Signature", Value: signed}, {Name: "Wh-Webhook-Event", Value: "user.updated"},
			},
		})
		if answer.Status/100 != 2 {
			return fmt.Errorf("the receiver answered %d %s", answer.Status, answer.Reason)
		}
		return nil
	})
}
