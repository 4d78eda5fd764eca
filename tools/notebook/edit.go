package notebook

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// ErrNoChange: the cell has this source and this type already.
var ErrNoChange = errors.New("nothing would change: the cell has exactly this source")

// An Edited is a notebook after an edit.
type Edited struct {
	Text    string // all of it
	Name    string // what the cell is called in Text, its id or "cell-3"; of a deleted one, what it was called
	Index   int    // of the cell, likewise
	Type    string // of the cell
	Cleared int    // how many outputs of the cell are gone
}

// Replace gives a cell another source and, unless cellType is "", another type. A
// code cell loses its outputs and its execution count: what old code printed would
// mislead. A cell of another type gets the keys that its type must have and loses
// those it can't have, attachments of a cell that becomes code among them. Its
// metadata and id stay. Lines of source that stay are spelled as before, and line
// endings are those of the old source. It fails with [ErrNoChange] when source and
// type are what they are.
func (n *Notebook) Replace(name, source, cellType string) (Edited, error) {
	i, err := n.editable(name)
	if err != nil {
		return Edited{}, err
	}
	c := &n.cells[i]
	if cellType == "" {
		cellType = c.kind
	} else if err := checkType(cellType); err != nil {
		return Edited{}, err
	}
	if badUTF8(source) >= 0 {
		return Edited{}, errNotUTF8
	}
	if n.text[c.start] != '{' {
		return Edited{}, fmt.Errorf("%s is no object in the JSON of the notebook; delete it and insert a cell", n.label(i))
	}
	old := textOf(n.text, c.source)
	source = likeOld(old, source)
	if source == old && cellType == c.kind {
		return Edited{}, ErrNoChange
	}
	o := parseObject(n.text, c.span)
	if source != old || !c.source.present() {
		o.put("source", n.writeSource(o, i, source))
	}
	setType(o, c.kind, cellType)
	out := Edited{Name: n.name(i), Index: i, Type: cellType}
	if c.kind == Code || cellType != c.kind {
		out.Cleared = n.countOutputs(c)
	}
	out.Text = n.text[:c.start] + o.String() + n.text[c.end:]
	return out, nil
}

var errNotUTF8 = errors.New("the source is not valid UTF-8")

func checkType(cellType string) error {
	switch cellType {
	case Code, Markdown, Raw:
		return nil
	case "":
		return errors.New("the type of the new cell is missing: code, markdown or raw")
	}
	return fmt.Errorf("%s is no type of cell; code, markdown and raw are", shortQuote(cellType))
}

// setType makes o a cell of a type that was of another or the same, and clears what a
// code cell has run. Only what the format allows a type to have is added or taken
// away, and nothing where the type stays.
func setType(o *object, old, cellType string) {
	changed := old != cellType
	if changed {
		o.put("cell_type", quoter{}.quote(cellType))
	}
	switch {
	case cellType == Code:
		if changed {
			o.remove("attachments") // as Jupyter does: only text can refer to them
		}
		if m := o.get("execution_count"); changed || m != nil {
			o.put("execution_count", "null")
		}
		if m := o.get("outputs"); changed && m == nil || m != nil && !isEmptyList(m.value) {
			o.put("outputs", "[]")
		}
	case changed:
		o.remove("execution_count")
		o.remove("outputs")
	}
}

func isEmptyList(value string) bool {
	return value[0] == '[' && value[skipSpace(value, 1)] == ']'
}

func (n *Notebook) countOutputs(c *cell) int {
	count := 0
	elements(n.text, c.outputs, func(span) { count++ })
	return count
}

// Insert puts a new cell after another one, or at the beginning where after is "".
// It has no outputs, and an id where the notebook's format wants one.
func (n *Notebook) Insert(after, source, cellType string) (Edited, error) {
	if err := n.known(); err != nil {
		return Edited{}, err
	}
	at := 0
	if after != "" {
		i, err := n.find(after)
		if err != nil {
			return Edited{}, err
		}
		at = i + 1
	}
	if err := checkType(cellType); err != nil {
		return Edited{}, err
	}
	if badUTF8(source) >= 0 {
		return Edited{}, errNotUTF8
	}
	if len(n.cells) == MaxCells {
		return Edited{}, fmt.Errorf("the notebook has %d cells already, which is the most", MaxCells)
	}
	id, err := n.newID()
	if err != nil {
		return Edited{}, err
	}
	o := n.newCell(at, id, source, cellType)
	out := Edited{Text: n.place(at, o), Name: id, Index: at, Type: cellType}
	if id == "" {
		out.Name = fmt.Sprintf("cell-%d", at)
	}
	return out, nil
}

// newCell is a cell in the style of the nearest one of its type, or else of any.
func (n *Notebook) newCell(at int, id, source, cellType string) *object {
	near := n.nearest(at-1, func(c *cell) bool { return n.isModel(c) && c.kind == cellType })
	if near < 0 {
		near = n.nearest(at-1, n.isModel)
	}
	o := &object{}
	if near >= 0 {
		c := &n.cells[near]
		o = parseObject(n.text, c.span)
		source = likeOld(textOf(n.text, c.source), source)
	} else {
		f := n.frame()
		o.members = []member{
			{name: "cell_type", lead: f.cell.open, key: `"cell_type"`, colon: f.colon},
			{name: "metadata", lead: f.cell.next, key: `"metadata"`, colon: f.colon, trail: f.cell.end},
		}
		source = likeOld("", source)
	}
	fill(o, id, cellType)
	o.put("source", n.writeSource(o, at-1, source))
	return o
}

// isModel: a new cell can be written like c.
func (n *Notebook) isModel(c *cell) bool {
	return n.text[c.start] == '{' && c.twice == "" && c.kind != ""
}

// fill leaves o with the keys of a new cell, except for its source.
func fill(o *object, id, cellType string) {
	want := map[string]string{"cell_type": quoter{}.quote(cellType), "metadata": "{}"}
	if id != "" {
		want["id"] = quoter{}.quote(id)
	}
	if cellType == Code {
		want["execution_count"], want["outputs"] = "null", "[]"
	}
	for i := len(o.members) - 1; i >= 0; i-- {
		name := o.members[i].name
		if _, ok := want[name]; !ok && name != "source" {
			o.remove(name)
		}
	}
	for _, name := range [...]string{"cell_type", "execution_count", "id", "metadata", "outputs"} {
		if value, ok := want[name]; ok {
			o.put(name, value)
		}
	}
}

// place is the text with a cell put in before the one of index at.
func (n *Notebook) place(at int, o *object) string {
	cell, last := o.String(), len(n.cells)-1
	switch {
	case last < 0:
		s := n.frame().list
		return n.text[:n.list.start] + "[" + s.open + cell + s.end + "]" + n.text[n.list.end:]
	case at > last:
		end := n.cells[last].end
		return n.text[:end] + "," + n.gap(last, o) + cell + n.text[end:]
	}
	start := n.cells[at].start
	return n.text[:start] + cell + "," + n.gap(max(at, 1), o) + n.text[start:]
}

// gap is the white space before the cell of index i, or what would stand there if
// there were a second cell.
func (n *Notebook) gap(i int, o *object) string {
	if i > 0 && i < len(n.cells) {
		return n.leadOf(i)
	}
	return nextGap(n.leadOf(0), o.colon())
}

// newID is an id that no cell has; "" where the format has no ids.
func (n *Notebook) newID() (string, error) {
	if !n.hasIDs() {
		return "", nil
	}
	taken := make(map[string]bool, len(n.cells))
	for i := range n.cells {
		taken[n.cells[i].id] = true
	}
	source := n.Rand
	if source == nil {
		source = rand.Reader
	}
	var raw [4]byte
	for range 100 {
		if _, err := io.ReadFull(source, raw[:]); err != nil {
			return "", fmt.Errorf("no id for the new cell: %w", err)
		}
		if id := hex.EncodeToString(raw[:]); !taken[id] {
			return id, nil
		}
	}
	return "", errors.New("no id for the new cell: 100 random ones were taken")
}

// hasIDs: cells have ids, by the format or, where the notebook does not say which it
// is, by what is there.
func (n *Notebook) hasIDs() bool {
	if n.major == 0 {
		return n.nearest(0, func(c *cell) bool { return c.id != "" }) >= 0
	}
	return n.major > 4 || n.major == 4 && n.minor >= 5
}

// Delete takes a cell out, with one comma.
func (n *Notebook) Delete(name string) (Edited, error) {
	i, err := n.editable(name)
	if err != nil {
		return Edited{}, err
	}
	c := &n.cells[i]
	out := Edited{Name: n.name(i), Index: i, Type: c.kind, Cleared: n.countOutputs(c)}
	switch last := len(n.cells) - 1; {
	case last == 0:
		out.Text = n.text[:n.list.start] + "[]" + n.text[n.list.end:]
	case i == last:
		out.Text = n.text[:n.cells[i-1].end] + n.text[c.end:]
	default:
		out.Text = n.text[:c.start] + n.text[n.cells[i+1].start:]
	}
	return out, nil
}

// name is what a cell is called: its id, where that finds it.
func (n *Notebook) name(i int) string {
	if at, err := n.find(n.cells[i].id); err == nil && at == i {
		return n.cells[i].id
	}
	return fmt.Sprintf("cell-%d", i)
}

// known fails where the notebook is of a format that can only be shown.
func (n *Notebook) known() error {
	switch {
	case n.worksheets || n.major > 0 && n.major < 4:
		return fmt.Errorf("the notebook is of the old nbformat %d, which can be shown but not edited. \"jupyter nbconvert --to notebook --inplace FILE\" converts it", max(n.major, 3))
	case n.major > 4:
		return fmt.Errorf("the notebook is of nbformat %d; 4 is the newest that can be edited", n.major)
	}
	return nil
}

// editable finds a cell and fails where it cannot be edited safely.
func (n *Notebook) editable(name string) (int, error) {
	if err := n.known(); err != nil {
		return 0, err
	}
	i, err := n.find(name)
	if err != nil {
		return 0, err
	}
	if twice := n.cells[i].twice; twice != "" {
		return 0, fmt.Errorf("%s has the key %s twice, and which one counts is not defined; write the file anew with write_file", n.label(i), twice)
	}
	return i, nil
}
