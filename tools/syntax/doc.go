// Package syntax tells whether the text of a file still parses as what its
// name says: JSON, YAML, TOML, XML, Go or shell. An editor asks it after an
// edit, so that a comma too many is told at once, with line and reason.
//
// It is pure: text in, verdict out. It opens no file, expands no alias or
// entity and runs nothing.
//
// A wrong complaint does more harm than a missed one. What the package cannot
// judge is therefore "not known", never an error: names that say nothing, text
// over a bound, nesting no person writes, dialects no parser here speaks.
//
// Ask first about the text after the edit, and about the text before only if
// that has an error: then most edits cost one parse, and a file that never
// parsed, such as a template, is left alone.
package syntax
