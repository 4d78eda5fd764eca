package notebook

import "strings"

// A member is a member of an object with the white space around it.
type member struct {
	name        string
	lead, trail string // before the key, and after the value
	key         string // as it is spelled
	colon       string // all between key and value
	value       string
}

// An object is an object taken apart so that put together again it is the same, byte
// for byte.
type object struct {
	members []member
	inside  string // the white space of an object without members
}

// parseObject takes an object apart.
func parseObject(text string, at span) *object {
	o := &object{}
	last := at.start + 1 // after the brace or comma
	fields(text, at, func(f field) {
		lead := span{spaceBefore(text, f.key.start), f.key.start}
		after := skipSpace(text, f.value.end)
		o.members = append(o.members, member{
			name: f.name, lead: lead.in(text), key: f.key.in(text),
			colon: text[f.key.end:f.value.start],
			value: f.value.in(text), trail: text[f.value.end:after],
		})
		last = after + 1
	})
	if len(o.members) == 0 {
		o.inside = text[last:skipSpace(text, last)]
	}
	return o
}

func (o *object) String() string {
	var out strings.Builder
	out.WriteString("{" + o.inside)
	for i, m := range o.members {
		if i > 0 {
			out.WriteByte(',')
		}
		for _, s := range [...]string{m.lead, m.key, m.colon, m.value, m.trail} {
			out.WriteString(s)
		}
	}
	out.WriteByte('}')
	return out.String()
}

// get is the member of this name, nil where there is none.
func (o *object) get(name string) *member {
	for i := range o.members {
		if o.members[i].name == name {
			return &o.members[i]
		}
	}
	return nil
}

// remove takes a member out, with one comma.
func (o *object) remove(name string) {
	for i := range o.members {
		if o.members[i].name != name {
			continue
		}
		last := len(o.members) - 1
		switch { // the white space after { and before } stays
		case last == 0:
		case i == 0:
			o.members[1].lead = o.members[0].lead
		case i == last:
			o.members[i-1].trail = o.members[i].trail
		}
		o.members = append(o.members[:i:i], o.members[i+1:]...)
		return
	}
}

// put gives a member a value. A new one comes where the order of the names wants it,
// if they have one, else last.
func (o *object) put(name, value string) {
	if m := o.get(name); m != nil {
		m.value = value
		return
	}
	at := o.place(name)
	m := member{name: name, key: `"` + name + `"`, colon: o.colon(), value: value}
	switch {
	case len(o.members) == 0:
		m.lead = o.inside
		m.trail = o.inside
		o.inside = ""
	case at == 0:
		m.lead = o.members[0].lead
		o.members[0].lead = o.nextLead()
	default:
		m.lead = o.nextLead()
		if at == len(o.members) {
			before := &o.members[at-1]
			before.trail, m.trail = "", before.trail
		}
	}
	o.members = append(o.members[:at:at], append([]member{m}, o.members[at:]...)...)
}

// place is where a new member belongs.
func (o *object) place(name string) int {
	at := len(o.members)
	for i, m := range o.members {
		if i > 0 && m.name < o.members[i-1].name {
			return len(o.members)
		}
		if m.name > name && at == len(o.members) {
			at = i
		}
	}
	return at
}

func (o *object) colon() string {
	if len(o.members) > 0 {
		return o.members[0].colon
	}
	return ": "
}

// nextLead is the white space between a comma and the next key.
func (o *object) nextLead() string {
	if len(o.members) > 1 {
		return o.members[1].lead
	}
	return nextGap(o.members[0].lead, o.colon())
}

// A spacing is the white space of a list.
type spacing struct{ open, next, end string }

// spacingOf is the white space of a list with elements. ok is false for anything else.
func spacingOf(text string, at span, colon string) (s spacing, ok bool) {
	if !at.present() || text[at.start] != '[' {
		return s, false
	}
	count := 0
	var last span
	elements(text, at, func(value span) {
		lead := text[spaceBefore(text, value.start):value.start]
		if count == 0 {
			s.open = lead
		} else if count == 1 {
			s.next = lead
		}
		count++
		last = value
	})
	if count == 0 {
		return s, false
	}
	if count == 1 {
		s.next = nextGap(s.open, colon)
	}
	s.end = text[last.end : at.end-1]
	return s, true
}

// nextGap is the white space after a comma, where only that after the bracket is
// known: in one line it is a space for those who write one after a colon.
func nextGap(open, colon string) string {
	if open == "" && strings.HasSuffix(colon, " ") {
		return " "
	}
	return open
}

func hasBreak(space string) bool { return strings.ContainsAny(space, "\r\n") }

// lastBreak is the last line break of some white space, and the indentation after it.
func lastBreak(space string) (ending, indent string) {
	i := strings.LastIndexAny(space, "\r\n")
	if i < 0 {
		return "", space
	}
	start := i
	if space[i] == '\n' && i > 0 && space[i-1] == '\r' {
		start--
	}
	return space[start : i+1], space[i+1:]
}
