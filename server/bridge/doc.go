// Package bridge offers the tools of other MCP servers as ours.
//
// A configuration in the mcpServers format of the hosts names the servers. Each is
// started when something is first wanted of it, its tools are registered as
// mcp__server__tool, and calls of them are passed on. What a server does wrong
// stays its own: it may crash, hang, flood or lie, and only calls of its own tools
// fail, with words that say so.
//
// Not stopped: a server that was configured runs with the rights of the user, and
// what its tools return reaches the model as it is.
package bridge
