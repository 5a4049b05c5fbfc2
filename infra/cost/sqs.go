package cost

const (
	sqsBatch = 10       // messages in a request to SQS
	sqsChunk = 64 << 10 // bytes that SQS bills as one request
)

// chunks is what SQS bills for a request that carries so many bytes.
func chunks(bytes int) int { return max((bytes+sqsChunk-1)/sqsChunk, 1) }
