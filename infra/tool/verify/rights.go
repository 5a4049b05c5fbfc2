package verify

import (
	"os"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The calls name items that are not there.
const (
	tenantKey = `{"tenant_id":{"S":"` + Tenant + `"},"endpoint_id":{"S":"none"}}`
	marksKey  = `{"tenant_id":{"S":"marks#` + Tenant + `"},"endpoint_id":{"S":"#marks"}}`
	// For a Query and a Scan, IAM learns the attributes to read only from Select.
	selected    = `,"Select":"SPECIFIC_ATTRIBUTES"`
	sealed      = `,"ProjectionExpression":"endpoint_id, sealed_secret"`
	projected   = `,"ProjectionExpression":"endpoint_id, #status","ExpressionAttributeNames":{"#status":"status"}`
	never       = `,"ConditionExpression":"attribute_exists(never)"`
	partition   = `"KeyConditionExpression":"tenant_id = :tenant","ExpressionAttributeValues":{":tenant":{"S":"`
	ofTenant    = partition + Tenant + `"}}`
	ofMarks     = partition + "marks#" + Tenant + `"}}`
	ofShard     = `"KeyConditionExpression":"endpoint_shard = :one","ExpressionAttributeValues":{":one":{"S":"none"}}`
	healthKey   = `{"scope":{"S":"none"},"name":{"S":"none"}}`
	circuitKey  = `{"scope":{"S":"endpoint#none"},"name":{"S":"none"}}`
	stateAlone  = `,"ProjectionExpression":"#state","ExpressionAttributeNames":{"#state":"state"}`
	backlogKey  = `{"endpoint_shard":{"S":"none"},"position":{"S":"none"}}`
	deliveryKey = `{"delivery_id":{"S":"none"}}`
	testsOfKey  = `{"delivery_id":{"S":"tests#none"}}`
	idOfKey     = `{"key_id":{"S":"none"}}`
)

func on(table, fields string) string { return `{"TableName":"${` + table + `}",` + fields + `}` }

func get(table, key, more string) string { return on(table, `"Key":`+key+more) }

func putEndpoint(key string) string { return on("Endpoints", `"Item":`+key+never) }

func batchGet(table, key, more string) string {
	return `{"RequestItems":{"${` + table + `}":{"Keys":[` + key + `]` + more + `}}}`
}

// set sets an attribute of an item that is there. Its condition names the key alone: IAM judges conditions, too.
func set(table, key, name, attribute string) string {
	return on(table, `"Key":`+key+`,"UpdateExpression":"SET #one = :one","ConditionExpression":"attribute_exists(#key)",`+
		`"ExpressionAttributeNames":{"#one":"`+attribute+`","#key":"`+name+`"},`+
		`"ExpressionAttributeValues":{":one":{"S":"none"}}`)
}

// answering has an update return something of the item.
func answering(update, values string) string {
	return strings.TrimSuffix(update, "}") + `,"ReturnValues":"` + values + `"}`
}

// transaction writes an endpoint that is there, and changes its tenant's count with it.
func transaction(key string) string {
	tenant, _, _ := strings.Cut(key, `,"endpoint_id"`)
	count := on("Endpoints", `"Key":`+tenant+`,"endpoint_id":{"S":"#counts"}}`+never+
		`,"UpdateExpression":"SET never = :one","ExpressionAttributeValues":{":one":{"S":"none"}}`)
	return `{"TransactItems":[{"Put":` + putEndpoint(key) + `},{"Update":` + count + `}]}`
}

func encrypt(key, purpose string) string {
	return `{"KeyId":"${` + key + `}","Plaintext":"none","EncryptionContext":{"purpose":"` + purpose + `"}}`
}

func dataKey(purpose string) string {
	return `{"KeyId":"${DeadLetterKey}","KeySpec":"AES_256","EncryptionContext":{"purpose":"` + purpose + `"}}`
}

// Rights are the calls by which the probe tells a role's work from the forbidden rest. The allowed ones show that a
// refusal is for lack of a right, and not the probe's own fault.
var Rights = []Call{
	{"webhooks", "kms:Encrypt", encrypt("SecretsKey", "signing-secret"), true},
	{"webhooks", "kms:Encrypt", encrypt("SecretsKey", "none"), false},
	{"webhooks", "dynamodb:GetItem", get("Endpoints", tenantKey, ""), true},
	{"webhooks", "dynamodb:GetItem", get("Endpoints", marksKey, ""), false},
	{"webhooks", "dynamodb:GetItem", get("EndpointHealth", circuitKey, stateAlone), true},
	{"webhooks", "dynamodb:GetItem", get("EndpointHealth", circuitKey, ""), false},
	{"webhooks", "dynamodb:UpdateItem", set("Deliveries", testsOfKey, "delivery_id", "tests"), true},
	{"webhooks", "dynamodb:UpdateItem", set("Deliveries", deliveryKey, "delivery_id", "tests"), false},
	{"webhooks", "dynamodb:GetItem", get("Deliveries", deliveryKey, ""), false},
	{"webhooks", "dynamodb:PutItem", putEndpoint(marksKey), false},
	{"webhooks", "dynamodb:TransactWriteItems", transaction(tenantKey), true},
	{"webhooks", "dynamodb:TransactWriteItems", transaction(marksKey), false},
	{"webhooks", "dynamodb:UpdateItem", set("ApiKeys", idOfKey, "key_id", "last_used_at"), true},
	{"webhooks", "dynamodb:UpdateItem", set("ApiKeys", idOfKey, "key_id", "scopes"), false},
	{"webhooks", "dynamodb:GetItem", get("DeadLetters", deliveryKey, ""), false},

	{"fanout", "dynamodb:Query", on("Endpoints", ofTenant+projected+selected), true},
	{"fanout", "dynamodb:Query", on("Endpoints", ofTenant), false},
	{"fanout", "dynamodb:Query", on("Endpoints", ofTenant+sealed+selected), false},
	{"fanout", "dynamodb:Query", on("Endpoints", ofMarks+projected+selected), false},
	{"fanout", "dynamodb:PutItem", putEndpoint(tenantKey), false},

	{"deliver", "dynamodb:BatchGetItem", batchGet("Endpoints", tenantKey, ""), true},
	{"deliver", "dynamodb:PutItem", putEndpoint(marksKey), false},
	{"deliver", "dynamodb:UpdateItem", set("EndpointHealth", healthKey, "scope", "state"), true},
	{"deliver", "dynamodb:UpdateItem", set("EndpointHealth", healthKey, "scope", "outage"), false},
	{"deliver", "dynamodb:UpdateItem", set("EndpointHealth", healthKey, "scope", "death"), false},
	{"deliver", "dynamodb:UpdateItem",
		answering(set("EndpointHealth", healthKey, "scope", "state"), "UPDATED_NEW"), true},
	{"deliver", "dynamodb:UpdateItem", answering(set("EndpointHealth", healthKey, "scope", "state"), "ALL_NEW"), false},
	{"deliver", "dynamodb:DeleteItem", get("EndpointHealth", healthKey, never), false},
	{"deliver", "dynamodb:DeleteItem", get("Backlog", backlogKey, never), false},
	{"deliver", "kms:Encrypt", encrypt("SecretsKey", "signing-secret"), false},
	{"deliver", "kms:GenerateDataKey", dataKey("dead-letter"), false},

	{"deadletter", "kms:GenerateDataKey", dataKey("dead-letter"), true},
	{"deadletter", "kms:GenerateDataKey", dataKey("none"), false},
	{"deadletter", "dynamodb:GetItem", get("DeadLetters", deliveryKey, ""), false},

	{"release", "dynamodb:BatchGetItem", batchGet("Endpoints", tenantKey, projected), true},
	{"release", "dynamodb:BatchGetItem", batchGet("Endpoints", tenantKey, ""), false},
	{"release", "dynamodb:PutItem", putEndpoint(marksKey), false},
	{"release", "dynamodb:UpdateItem", answering(set("EndpointHealth", healthKey, "scope", "state"), "ALL_NEW"), true},

	{"inspect", "dynamodb:GetItem", get("Endpoints", tenantKey, projected), true},
	{"inspect", "dynamodb:GetItem", get("Endpoints", tenantKey, ""), false},
	{"inspect", "dynamodb:Query", on("Endpoints", ofTenant), false},
	{"inspect", "dynamodb:Query", on("Backlog", ofShard), false},
	{"inspect", "dynamodb:DeleteItem", get("DeadLetters", deliveryKey, never), false},
	{"inspect", "kms:GenerateDataKey", dataKey("dead-letter"), false},

	{"replay", "dynamodb:GetItem", get("Endpoints", tenantKey, projected), true},
	{"replay", "dynamodb:GetItem", get("Endpoints", tenantKey, ""), false},
	{"replay", "dynamodb:GetItem", get("Endpoints", marksKey, projected), false},
	{"replay", "kms:GenerateDataKey", dataKey("dead-letter"), false},

	{"control", "dynamodb:PutItem", putEndpoint(marksKey), true},
	{"control", "dynamodb:PutItem", putEndpoint(tenantKey), false},
	{"control", "dynamodb:GetItem", get("Endpoints", tenantKey, ""), false},
	{"control", "dynamodb:UpdateItem", set("EndpointHealth", healthKey, "scope", "held_until"), true},
	{"control", "dynamodb:UpdateItem", set("EndpointHealth", healthKey, "scope", "state"), false},
	{"control", "dynamodb:UpdateItem",
		answering(set("EndpointHealth", healthKey, "scope", "held_until"), "ALL_NEW"), false},
	{"control", "dynamodb:Query", on("Backlog", ofShard), false},

	{"apikeys", "dynamodb:GetItem", get("ApiKeys", idOfKey, ""), true},
	{"apikeys", "dynamodb:DeleteItem", get("ApiKeys", idOfKey, never), false},
	{"apikeys", "dynamodb:GetItem", get("Endpoints", tenantKey, projected), false},
}

// Named is the call's input with the names of a stack's resources.
func (c Call) Named(physical func(logical string) string) jsontext.Value {
	return jsontext.Value(os.Expand(c.Input, physical))
}
