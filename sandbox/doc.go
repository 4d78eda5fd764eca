// Package sandbox is the only place that touches files and starts processes.
//
// A [Workspace] confines every path to its roots, a [Dir] walks below one of
// them, and a [Shell] runs commands. Nothing above this package calls os or
// os/exec: what is not offered here cannot be done by a tool.
package sandbox
