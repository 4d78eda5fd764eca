package charset

// The functions of this file say how many bytes the sequence that begins at b[0]
// has by its form, whether or not it stands for a character and whether or not b
// goes that far: the length by which an error tells the bytes at fault, and up to
// which a reader has to wait. A byte that cannot go on with what was begun is not
// counted: after a lead byte with a wrong second byte the length is 1. b must not
// be empty, and b[0] not ASCII.

func one([]byte) int { return 1 }

// pair is 2 if the second byte is good, or not there yet.
func pair(b []byte, good func(byte) bool) int {
	if len(b) > 1 && !good(b[1]) {
		return 1
	}
	return 2
}

func gbk(b []byte) int {
	if b[0] == 0x80 || b[0] == 0xFF { // 0x80 is the euro sign
		return 1
	}
	return pair(b, func(c byte) bool { return c >= 0x40 && c != 0x7F && c != 0xFF })
}

func gb18030(b []byte) int {
	if b[0] == 0x80 || b[0] == 0xFF || len(b) == 1 || !digit(b[1]) {
		return gbk(b)
	}
	if len(b) > 2 && (b[2] <= 0x80 || b[2] == 0xFF) || len(b) > 3 && !digit(b[3]) {
		return 1
	}
	return 4
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func big5(b []byte) int {
	if b[0] == 0x80 || b[0] == 0xFF {
		return 1
	}
	return pair(b, func(c byte) bool { return 0x40 <= c && c <= 0x7E || 0xA1 <= c && c <= 0xFE })
}

func shiftJIS(b []byte) int {
	if b[0] == 0x80 || 0xA0 <= b[0] && b[0] <= 0xDF || b[0] >= 0xFD { // 0xA1 to 0xDF are katakana
		return 1
	}
	return pair(b, func(c byte) bool { return c >= 0x40 && c != 0x7F && c <= 0xFC })
}

func eucKR(b []byte) int {
	if b[0] == 0x80 || b[0] == 0xFF {
		return 1
	}
	return pair(b, func(c byte) bool {
		letter := 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || c > 0x80 && c < 0xA1
		return letter && b[0] < 0xC7 || 0xA1 <= c && c <= 0xFE
	})
}

func eucJP(b []byte) int {
	high := func(c byte) bool { return 0xA1 <= c && c <= 0xFE }
	switch {
	case b[0] == 0x8E: // a half-width katakana
		return pair(b, func(c byte) bool { return 0xA1 <= c && c <= 0xDF })
	case b[0] == 0x8F: // JIS X 0212
		if len(b) > 1 && !high(b[1]) || len(b) > 2 && !high(b[2]) {
			return 1
		}
		return 3
	case !high(b[0]):
		return 1
	}
	return pair(b, high)
}
