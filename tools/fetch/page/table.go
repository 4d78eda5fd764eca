package page

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of a table that is written as one.
const (
	maxColumns = 60
	maxSpan    = 60
	maxCells   = 200_000
	maxGrid    = 8 << 20 // bytes of text, of which cells over several rows have more than the page
)

// table writes a table as one, or, where it only lays out the page, what is in it.
func (r *renderer) table(n *html.Node) {
	rows := rowsOf(n)
	if isNumbered(rows) {
		r.numbered(rows)
		return
	}
	if isLayout(n, rows) {
		r.unfold(n, rows)
		return
	}
	grid, width := r.grid(rows)
	if width == 0 || width > maxColumns {
		r.unfold(n, rows)
		return
	}
	r.w.want(gapBlank)
	if caption := child(n, atom.Caption); caption != nil {
		if s := r.oneLine(caption); s != "" {
			r.w.block(s)
		}
	}
	if len(grid) == 0 {
		return
	}
	if r.plain {
		for _, cells := range grid {
			r.w.lines(strings.Join(cells, " | "))
		}
		r.w.want(gapBlank)
		return
	}
	if !isHeadRow(rows[0]) {
		r.w.lines(tableRow(nil, width))
		r.w.lines(rule(width))
	}
	for i, cells := range grid {
		r.w.lines(tableRow(cells, width))
		if i == 0 && isHeadRow(rows[0]) {
			r.w.lines(rule(width))
		}
	}
	r.w.want(gapBlank)
}

// isNumbered tells whether a table is code beside the numbers of its lines.
func isNumbered(rows []*html.Node) bool {
	numbers := 0
	for _, row := range rows {
		all := 0
		for c := row.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom == atom.Td {
				all++
				if isGutter(c) {
					numbers++
				}
			}
		}
		if all != 2 {
			return false
		}
	}
	return len(rows) > 1 && numbers == len(rows)
}

// numbered writes such code.
func (r *renderer) numbered(rows []*html.Node) {
	pre := &html.Node{Type: html.ElementNode, Data: "pre", DataAtom: atom.Pre}
	var b strings.Builder
	for _, row := range rows {
		for _, c := range cellsOf(row) {
			b.WriteString(strings.TrimRight(codeText(c), "\n") + "\n")
		}
	}
	pre.AppendChild(&html.Node{Type: html.TextNode, Data: b.String()})
	r.code(pre)
}

func tableRow(cells []string, width int) string {
	var b strings.Builder
	b.WriteByte('|')
	for i := range width {
		cell := ""
		if i < len(cells) {
			cell = cells[i]
		}
		b.WriteString(" " + cell)
		if cell != "" {
			b.WriteByte(' ')
		}
		b.WriteByte('|')
	}
	return b.String()
}

func rule(width int) string { return "|" + strings.Repeat(" --- |", width) }

// rowsOf are the rows of a table, not those of tables inside it.
func rowsOf(table *html.Node) []*html.Node {
	var head, rows, foot []*html.Node // shown in this order, however they are written
	for c := table.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Tr:
			rows = append(rows, c)
		case atom.Thead:
			head = rowsIn(c, head)
		case atom.Tbody:
			rows = rowsIn(c, rows)
		case atom.Tfoot:
			foot = rowsIn(c, foot)
		}
	}
	return slices.Concat(head, rows, foot)
}

func rowsIn(part *html.Node, rows []*html.Node) []*html.Node {
	for t := part.FirstChild; t != nil; t = t.NextSibling {
		if t.DataAtom == atom.Tr {
			rows = append(rows, t)
		}
	}
	return rows
}

func cellsOf(row *html.Node) []*html.Node {
	var cells []*html.Node
	for c := row.FirstChild; c != nil; c = c.NextSibling {
		if (c.DataAtom == atom.Td || c.DataAtom == atom.Th) && !isGutter(c) {
			cells = append(cells, c)
		}
	}
	return cells
}

// isLayout tells whether a table is there for its look: it holds tables, headings or
// code, or is one row or column without a head.
func isLayout(table *html.Node, rows []*html.Node) bool {
	if role := attr(table, "role"); role == "presentation" || role == "none" {
		return true
	}
	heads, most := 0, 0
	for _, row := range rows {
		cells := cellsOf(row)
		most = max(most, len(cells))
		for _, c := range cells {
			if c.DataAtom == atom.Th {
				heads++
			}
			if holdsBlocks(c) {
				return true
			}
		}
	}
	return most < 2 || len(rows) < 2 && heads == 0
}

// holdsBlocks: what no cell of a table can hold.
func holdsBlocks(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Table, atom.H1, atom.H2, atom.H3, atom.Blockquote:
			return true
		case atom.Pre:
			if strings.Contains(strings.TrimSpace(codeText(c)), "\n") {
				return true
			}
		}
		if c.Type == html.ElementNode && holdsBlocks(c) {
			return true
		}
	}
	return false
}

// unfold writes what is in the cells, one after the other.
func (r *renderer) unfold(table *html.Node, rows []*html.Node) {
	r.w.want(gapBlank)
	if caption := child(table, atom.Caption); caption != nil {
		r.flow(caption)
		r.flush()
	}
	for _, row := range rows {
		cells := cellsOf(row)
		if line, ok := r.shortRow(cells); ok {
			if line != "" {
				r.w.lines(line)
			}
			continue
		}
		for _, c := range cells {
			r.w.want(gapBlank)
			r.flow(c)
			r.flush()
		}
	}
	r.w.want(gapBlank)
}

// shortRow is a row of short cells as one line.
func (r *renderer) shortRow(cells []*html.Node) (string, bool) {
	var parts []string
	for _, c := range cells {
		if r.hasBlocks(c) {
			return "", false
		}
		if s := r.oneLine(c); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " "), true
}

func isHeadRow(row *html.Node) bool {
	if row.Parent != nil && row.Parent.DataAtom == atom.Thead {
		return true
	}
	cells := cellsOf(row)
	for _, c := range cells {
		if c.DataAtom != atom.Th {
			return false
		}
	}
	return len(cells) > 0
}

// grid is the text of all cells at their places. A cell over several rows stands in
// each of them, one over several columns in the first.
func (r *renderer) grid(rows []*html.Node) (grid [][]string, width int) {
	type hanging struct {
		text string
		rows int
	}
	down := map[int]hanging{} // by column
	total, size := 0, 0
	for _, row := range rows {
		var line []string
		put := func(text string) {
			line = append(line, text)
			size += len(text)
		}
		fill := func() {
			for {
				h, ok := down[len(line)]
				if !ok || h.rows == 0 {
					return
				}
				down[len(line)] = hanging{h.text, h.rows - 1}
				put(h.text)
			}
		}
		for _, c := range cellsOf(row) {
			fill()
			text := r.cell(c)
			columns, below := span(c, "colspan"), span(c, "rowspan")-1
			for i := range columns {
				if below > 0 {
					down[len(line)] = hanging{text, below}
				}
				if put(text); i == 0 && columns > 1 {
					text = ""
				}
			}
		}
		fill()
		if total += len(line); total > maxCells || size > maxGrid {
			return nil, 0
		}
		width = max(width, len(line))
		grid = append(grid, line)
	}
	return grid, width
}

func span(c *html.Node, key string) int {
	n, err := strconv.Atoi(strings.TrimSpace(attr(c, key)))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, maxSpan)
}

// cell is what a cell holds, in one line: blocks and breaks parted by <br>.
func (r *renderer) cell(n *html.Node) string {
	sub := &renderer{style: r.style, blocks: r.blocks}
	sub.cellFlow(n)
	sub.flush()
	text := strings.ReplaceAll(strings.TrimSpace(sub.w.b.String()), "  \n", "\n")
	var parts []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	if r.plain {
		return strings.Join(parts, "; ")
	}
	return strings.ReplaceAll(strings.Join(parts, "<br>"), "|", `\|`)
}

// cellFlow is flow with code in one line as code in the text.
func (r *renderer) cellFlow(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Pre {
			r.node(c)
			continue
		}
		r.flush()
		if text := strings.TrimSpace(codeText(c)); text != "" {
			r.par.raw(codeSpan(text))
		}
		r.flush()
	}
}

func child(n *html.Node, a atom.Atom) *html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == a {
			return c
		}
	}
	return nil
}
