// Package tools holds the tools and the one way to call them.
//
// A tool is a [Tool] value: a name, words for the model, an input struct and a
// function. [Builtin] lists them all. A [Session] is one client; every call of
// it goes through the same stages, see [Call]: lookup, validate, hooks, permit,
// execute, shape, post. A handler therefore contains none of that.
//
// To add a tool write one file and one line in Builtin.
package tools
