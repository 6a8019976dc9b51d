// Package jsonedit edits JSON as text.
package jsonedit
