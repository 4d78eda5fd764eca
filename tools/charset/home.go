package charset

import "bytes"

// atHome tells whether a sign stands where it usually does, so that hardly
// anything else could: "Copyright © 2007", "20 °C", "5 µs", "± 3", "£9.99", "3 €",
// "§ 7", "isn’t", "one – two", "• first".
func atHome(sign rune, before, after []byte) bool {
	switch sign {
	case '©':
		return counting(after) || bytes.HasSuffix(before, []byte("opyright "))
	case '°':
		return counted(before) && (!startsWord(after) || after[0] == 'C' || after[0] == 'F')
	case 'µ':
		return counted(before) && startsWord(after) && !startsWord(after[1:])
	case '±', '£', '§':
		return counting(after) && !endsWord(before)
	case '€':
		return counting(after) || counted(before)
	case '’':
		return endsWord(before) && contraction(after)
	case '–', '—':
		return spaced(before, after) && endsWord(bytes.TrimRight(before, " ,)"))
	case '•':
		return spaced(before, after) && len(bytes.TrimSpace(before)) == 0
	}
	return false
}

// counting tells whether b begins with a number, perhaps after a space.
func counting(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte(" "))
	return len(b) > 0 && digit(b[0])
}

// counted tells whether b ends in a number, perhaps before a space.
func counted(b []byte) bool {
	b = bytes.TrimSuffix(b, []byte(" "))
	return len(b) > 0 && digit(b[len(b)-1])
}

func startsWord(b []byte) bool { return len(b) > 0 && isASCIILetter(b[0]) }

func endsWord(b []byte) bool { return len(b) > 0 && isASCIILetter(b[len(b)-1]) }

func spaced(before, after []byte) bool {
	return (len(before) == 0 || before[len(before)-1] <= ' ') && len(after) > 0 && after[0] == ' '
}

// contraction tells whether b begins with what follows an English apostrophe.
func contraction(b []byte) bool {
	for _, end := range []string{"s", "t", "re", "ll", "ve", "d", "m"} {
		if rest, ok := bytes.CutPrefix(b, []byte(end)); ok && !startsWord(rest) && (len(rest) == 0 || rest[0] < 0x80) {
			return true
		}
	}
	return false
}
