package egress

// Close ends the idle connections. A function never does: Lambda ends its process.
func (c *Client) Close() {
	for _, kept := range c.idle.idle {
		kept.close()
	}
	c.idle.idle = nil
}
