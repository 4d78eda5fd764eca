package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// DefaultMaxResult is the size in bytes from which a result is saved whole
	// and shown as a preview.
	DefaultMaxResult = 30720
	// previewLines is how many lines of a saved result are shown.
	previewLines = 200
	// maxChars is how many characters (Unicode code points) a result may have, and
	// keepChars how many of its head and of its tail are kept beyond that.
	maxChars  = 50000
	keepChars = 24970
)

// shape bounds the text of a result: a large one is saved whole and previewed,
// and whatever is then too long loses its middle. Notes are never cut.
func (c *Call) shape(res *Result) {
	limit := DefaultMaxResult
	if c.tool != nil && c.tool.MaxResult != 0 {
		limit = c.tool.MaxResult
	}
	if res.Whole == nil && limit > 0 && len(res.Text) > limit {
		res.Whole = c.save(res)
	}
	if res.Whole != nil {
		showWhole(res)
		if c.tool != nil && !c.s.opts.Stateless {
			for _, l := range res.Links {
				c.s.saved.add(c.tool.Name, l)
			}
		}
	}
	most := maxChars
	if limit < 0 { // it pages itself, and says around the page what it is
		most += maxChars / 10
	}
	res.Text = truncateMiddle(strings.ToValidUTF8(res.Text, "\uFFFD"), most)
	var b strings.Builder
	b.WriteString(res.Text)
	for _, note := range res.Notes {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString("[" + note + "]")
	}
	res.Text, res.Notes = b.String(), nil
}

// save writes the text of a result to the state directory.
func (c *Call) save(res *Result) *Whole {
	preview, lines := headLines(res.Text, previewLines)
	w := &Whole{Bytes: int64(len(res.Text)), Lines: lines, Preview: func(before string) string { return before + preview }, Label: fmt.Sprintf("first %d lines", previewLines)}
	file, err := c.s.env.State.Save(res.Text)
	if err != nil {
		c.logError("a large result could not be saved", "error", err)
		return w
	}
	w.File = file
	return w
}

// showWhole replaces the text by the preview of a saved result.
func showWhole(res *Result) {
	w := res.Whole
	size := fmt.Sprintf("%d KB, %d lines", (w.Bytes+1023)/1024, w.Lines)
	var b strings.Builder
	b.WriteString(w.Lead)
	switch {
	case w.File == nil:
		fmt.Fprintf(&b, "[Result too large (%s), and it could not be saved. Narrow the call to see the rest.]", size)
	case w.File.Size() < w.Bytes:
		fmt.Fprintf(&b, "[Result too large (%s). Its first %s were saved to %s. You can use read_file to see them.]", size, byteSize(w.File.Size()), w.File.Path())
		res.Links = append(res.Links, Link{Name: "beginning of the output", Path: w.File.Path(), URI: w.File.URI(), Size: w.File.Size()})
	default:
		fmt.Fprintf(&b, "[Result too large (%s). Full output saved to %s. You can use read_file to see the full result.]", size, w.File.Path())
		res.Links = append(res.Links, Link{Name: "full output", Path: w.File.Path(), URI: w.File.URI(), Size: w.Bytes})
	}
	fmt.Fprintf(&b, "\n\nPreview (%s):\n", w.Label)
	res.Text = strings.TrimRight(w.Preview(b.String()), "\n")
}

// headLines returns the first n lines of text, and how many it has.
func headLines(text string, n int) (head string, total int) {
	total = strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		total++
	}
	end := 0
	for range n {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text, total
		}
		end += i + 1
	}
	return strings.TrimSuffix(text[:end], "\n"), total
}

// truncateMiddle keeps head and tail of a text of more than most characters.
func truncateMiddle(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text
	}
	head := runeOffset(text, keepChars)
	tail := len(text) - tailOffset(text, keepChars)
	return fmt.Sprintf("%s\n\n[... truncated %d chars ...]\n\n%s", text[:head], n-2*keepChars, text[tail:])
}

// runeOffset is how many bytes the first n characters take.
func runeOffset(text string, n int) int {
	off := 0
	for ; n > 0 && off < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[off:])
		off += size
	}
	return off
}

// tailOffset is how many bytes the last n characters take.
func tailOffset(text string, n int) int {
	end := len(text)
	for ; n > 0 && end > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:end])
		end -= size
	}
	return len(text) - end
}
