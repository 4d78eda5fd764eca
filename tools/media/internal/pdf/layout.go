package pdf

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Distances between glyphs, in font sizes.
const (
	spaceGap   = 0.16 // a wider gap on a line is a space between words
	columnGap  = 1.8  // and this is a tab, between cells of a table
	backGap    = -1.5 // going back further begins a line, as in overprinted columns
	lineStep   = 0.5  // a glyph that is so far above or below begins a line
	paragraph  = 1.9  // and after this step down, or any step up, a paragraph
	overprint  = 0.15 // the same string so near again only makes it bold
	turned     = 0.9  // the cosine of an angle that begins a line
	maxPending = 2    // line breaks in a row
)

// layout writes glyphs, in the order in which the file draws them, as lines of
// text: it puts in the spaces and line breaks that files show by positions
// only. It does not sort, for drawing order is reading order in nearly all
// files, columns included.
type layout struct {
	out     strings.Builder
	chars   int
	max     int // characters
	cut     bool
	started bool
	x, y    float64 // the end of the last glyph
	ux, uy  float64 // its direction, of length 1
	size    float64
	last    struct { // the last string
		text string
		x, y float64
	}
}

// place is where a glyph is drawn: its origin, its end and its size.
type place struct{ x, y, endX, endY, size float64 }

// string begins a string, and says whether it is to be left out because it
// repeats the last one nearly at the same place.
func (o *layout) repeated(text string, p place) bool {
	near := overprint * p.size
	again := text == o.last.text && math.Abs(p.x-o.last.x) < near && math.Abs(p.y-o.last.y) < near
	o.last.text, o.last.x, o.last.y = text, p.x, p.y
	return again && text != ""
}

func (o *layout) glyph(text string, p place) {
	if o.chars >= o.max {
		o.cut = true
		return
	}
	dx, dy := p.endX-p.x, p.endY-p.y
	length := math.Hypot(dx, dy)
	ux, uy := o.ux, o.uy
	if length > 0 {
		ux, uy = dx/length, dy/length
	}
	if o.started {
		o.separate(text, p, ux, uy)
	}
	o.write(text)
	o.started = true
	o.x, o.y, o.ux, o.uy, o.size = p.endX, p.endY, ux, uy, p.size
}

// separate writes what stands between the last glyph and the next.
func (o *layout) separate(text string, p place, ux, uy float64) {
	size := max(o.size, p.size, 1e-6)
	dx, dy := (p.x-o.x)/size, (p.y-o.y)/size
	along, up := dx*o.ux+dy*o.uy, dy*o.ux-dx*o.uy
	switch {
	case ux*o.ux+uy*o.uy < turned:
		o.write("\n\n")
	case up > lineStep || up < -paragraph:
		o.write("\n\n")
	case up < -lineStep, along < backGap:
		o.write("\n")
	case along > columnGap:
		o.write("\t")
	case along > spaceGap && !strings.HasPrefix(text, " ") && !o.ends(" "):
		o.write(" ")
	}
}

func (o *layout) ends(with string) bool {
	return strings.HasSuffix(o.out.String(), with)
}

func (o *layout) write(text string) {
	o.out.WriteString(text)
	o.chars += utf8.RuneCountInString(text)
}

var plain = strings.NewReplacer(
	"\u00a0", " ", "\u00ad", "-", "\ufb00", "ff", "\ufb01", "fi", "\ufb02", "fl", "\ufb03", "ffi", "\ufb04", "ffl",
	"\r", "\n", "\t\n", "\n", " \n", "\n")

// text gives the lines without spaces at their ends, control characters and
// more than one empty line in a row.
func (o *layout) text() string {
	s := strings.ToValidUTF8(o.out.String(), "\ufffd")
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == '\ufeff' {
			return -1
		}
		return r
	}, plain.Replace(s))
	var b strings.Builder
	empty := maxPending // none at the beginning
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \t\n")
		if empty++; line != "" {
			empty = 0
		}
		if empty < maxPending {
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
