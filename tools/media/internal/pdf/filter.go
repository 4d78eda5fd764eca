package pdf

import (
	"bytes"
	"compress/flate"
	"compress/lzw"
	"encoding/ascii85"
	"errors"
	"io"

	tifflzw "golang.org/x/image/tiff/lzw"
)

// errNoText: a stream that is a picture or of an unknown kind.
var errNoText = errors.New("not a stream of text")

const maxFilters = 8

// decode gives the content of a stream. What comes before an error in it is
// kept, for a cut file is better read in part. No more than maxStream bytes
// come out of any filter.
func (f *File) decode(s stream) ([]byte, error) {
	filters, params := f.filters(s.dict)
	if len(filters) > maxFilters {
		return nil, errNoText
	}
	data := s.raw
	for i, filter := range filters {
		var p dict
		if i < len(params) {
			p = f.dict(params[i])
		}
		var err error
		if data, err = f.decodeOne(filter, data, p); err != nil {
			return nil, err
		}
	}
	return data[:min(len(data), maxStream)], nil
}

func (f *File) filters(d dict) (names []name, params array) {
	filter, param := f.resolve(first(d, "Filter", "F")), f.resolve(first(d, "DecodeParms", "DP"))
	switch v := filter.(type) {
	case name:
		if list, ok := param.(array); ok {
			return []name{v}, list
		}
		return []name{v}, array{param}
	case array:
		for _, v := range v[:min(len(v), maxFilters+1)] {
			names = append(names, f.name(v))
		}
	}
	params, _ = param.(array)
	return names, params
}

// first gives the value of a key, or else of its short form.
func first(d dict, long, short name) any {
	if v, ok := d[long]; ok {
		return v
	}
	return d[short]
}

func (f *File) decodeOne(filter name, data []byte, p dict) ([]byte, error) {
	switch filter {
	case "FlateDecode", "Fl":
		return f.predict(f.readAll(inflater(data)), p), nil
	case "LZWDecode", "LZW":
		if early, ok := p["EarlyChange"]; ok && f.int(early) == 0 {
			return f.predict(f.readAll(lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8)), p), nil
		}
		return f.predict(f.readAll(tifflzw.NewReader(bytes.NewReader(data), tifflzw.MSB, 8)), p), nil
	case "ASCII85Decode", "A85":
		return f.readAll(ascii85.NewDecoder(bytes.NewReader(trim85(data)))), nil
	case "ASCIIHexDecode", "AHx":
		var pos int
		f.work.decode(len(data))
		return unhexAll(data, &pos), nil
	case "RunLengthDecode", "RL":
		return f.runLength(data), nil
	case "Crypt", "":
		return data, nil
	}
	return nil, errNoText
}

// inflater passes over the zlib header and does not look at the checksum, which
// broken writers get wrong.
func inflater(data []byte) io.Reader {
	data = bytes.TrimLeft(data, "\r\n")
	if len(data) > 2 && data[0]&0x0f == 8 && (uint(data[0])<<8|uint(data[1]))%31 == 0 {
		data = data[2:]
	}
	return flate.NewReader(bytes.NewReader(data))
}

// readAll reads to the first error or limit, and pays on the way.
func (f *File) readAll(r io.Reader) []byte {
	var out bytes.Buffer
	buf := make([]byte, 32<<10)
	for out.Len() < maxStream {
		n, err := r.Read(buf)
		f.work.decode(n)
		out.Write(buf[:n])
		if err != nil {
			break
		}
	}
	return out.Bytes()
}

func trim85(data []byte) []byte {
	data = bytes.TrimPrefix(bytes.TrimLeft(data, "\r\n\t \x00"), []byte("<~"))
	if i := bytes.IndexByte(data, '~'); i >= 0 {
		data = data[:i]
	}
	return data
}

func (f *File) runLength(data []byte) []byte {
	var out []byte
	for len(data) > 1 && len(out) < maxStream {
		n := int(data[0])
		data = data[1:]
		before := len(out)
		switch {
		case n == 128:
			return out
		case n < 128:
			n = min(n+1, len(data))
			out = append(out, data[:n]...)
			data = data[n:]
		default:
			out = append(out, bytes.Repeat(data[:1], 257-n)...)
			data = data[1:]
		}
		f.work.decode(len(out) - before)
	}
	return out
}

// predict undoes the prediction of rows from their neighbours, which
// cross-reference streams use.
func (f *File) predict(data []byte, p dict) []byte {
	predictor := f.int(p["Predictor"])
	if predictor < 2 {
		return data
	}
	colors, bits, columns := f.positive(p["Colors"], 1), f.positive(p["BitsPerComponent"], 8), f.positive(p["Columns"], 1)
	row := (colors*bits*columns + 7) / 8
	pixel := max(1, colors*bits/8)
	if row > len(data) {
		row = max(1, len(data))
	}
	if predictor == 2 {
		return predictTIFF(data, row, pixel, bits)
	}
	return predictPNG(data, row, pixel)
}

// positive reads a number that lays out memory: from 1 to 65536.
func (f *File) positive(v any, otherwise int) int {
	if n := f.int(v); n > 0 {
		return int(min(n, 1<<16))
	}
	return otherwise
}

func predictTIFF(data []byte, row, pixel, bits int) []byte {
	if bits != 8 {
		return data
	}
	for start := 0; start < len(data); start += row {
		line := data[start:min(start+row, len(data))]
		for i := pixel; i < len(line); i++ {
			line[i] += line[i-pixel]
		}
	}
	return data
}

func predictPNG(data []byte, row, pixel int) []byte {
	out := make([]byte, 0, len(data))
	above := make([]byte, row)
	for len(data) > 1 {
		kind := data[0]
		line := data[1:min(1+row, len(data))]
		data = data[1+len(line):]
		for i := range line {
			var left, corner byte
			if i >= pixel {
				left, corner = line[i-pixel], above[i-pixel]
			}
			line[i] += predicted(kind, left, above[i], corner)
		}
		copy(above, line)
		out = append(out, line...)
	}
	return out
}

func predicted(kind, left, above, corner byte) byte {
	switch kind {
	case 1:
		return left
	case 2:
		return above
	case 3:
		return byte((int(left) + int(above)) / 2)
	case 4:
		return paeth(int(left), int(above), int(corner))
	}
	return 0
}

func paeth(a, b, c int) byte {
	distance := func(x int) int { return max(x-(a+b-c), (a+b-c)-x) }
	pa, pb, pc := distance(a), distance(b), distance(c)
	switch {
	case pa <= pb && pa <= pc:
		return byte(a)
	case pb <= pc:
		return byte(b)
	}
	return byte(c)
}
