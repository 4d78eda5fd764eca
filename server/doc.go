// Package server speaks the Model Context Protocol for the tools of package
// tools: every revision from 2024-11-05 to 2026-07-28, both eras on one
// connection.
//
// It stands on mcp-go for the protocol's methods and adds what that does not do:
// calls begin in the order they arrive, progress comes before its response, a
// cancelled request stays unanswered, and the end of input lets running calls
// finish.
package server
