// Package media makes pictures and PDF files fit to be shown to a model.
//
// Both come from anywhere, so all of it expects broken and hostile files: work
// is bounded in time and memory, nothing runs on after a call, and an error
// says in plain words what is wrong. The package knows no tools and no files,
// only bytes.
package media
