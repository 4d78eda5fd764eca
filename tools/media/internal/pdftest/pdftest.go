// Package pdftest builds PDF files for tests.
package pdftest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"strings"
)

// Objects that most files begin with: 1, 2 and 3.
const (
	Catalog   = "<</Type/Catalog/Pages 2 0 R>>"
	Helv      = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
	OnePage   = "<</Type/Pages/Kids[3 0 R]/Count 1>>"
	FirstPage = "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>/XObject<</X1 6 0 R>>>>>>"
)

// Stream is a stream object with more entries in its dictionary.
func Stream(dict, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

// Flate is a stream object that is compressed.
func Flate(dict, data string) string {
	return Stream(dict+"/Filter/FlateDecode", Deflate(data))
}

// Deflate compresses as zlib does.
func Deflate(data string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write([]byte(data))
	w.Close()
	return b.String()
}

// Build makes a file of objects, numbered from 1, the first being the catalog.
// Extra goes into the trailer.
func Build(extra string, objects ...string) []byte {
	b, offsets := body(objects)
	xref := b.Len()
	fmt.Fprintf(b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(b, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, extra, xref)
	return b.Bytes()
}

func body(objects []string) (*bytes.Buffer, []int) {
	var b bytes.Buffer
	var offsets []int
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	for i, object := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	return &b, offsets
}

// Packed is Build with an object stream, for all objects that are no streams,
// and a cross-reference stream with a predictor, as newer programs write.
func Packed(objects ...string) []byte {
	var head, inside strings.Builder
	n := 0
	index := map[int]int{}
	plain := make([]string, len(objects))
	for i, object := range objects {
		if strings.Contains(object, "\nstream\n") {
			plain[i] = object
			continue
		}
		plain[i] = "null"
		fmt.Fprintf(&head, "%d %d ", i+1, inside.Len())
		inside.WriteString(object + " ")
		index[i+1] = n
		n++
	}
	container := len(objects) + 1
	plain = append(plain, Flate(fmt.Sprintf("/Type/ObjStm/N %d/First %d", n, head.Len()), head.String()+inside.String()))
	b, offsets := body(plain)
	rows := [][]byte{row(0, 0, 0)}
	for num := 1; num <= container; num++ {
		if at, ok := index[num]; ok {
			rows = append(rows, row(2, container, at))
			continue
		}
		rows = append(rows, row(1, offsets[num-1], 0))
	}
	xref := b.Len()
	rows = append(rows, row(1, xref, 0))
	dict := fmt.Sprintf("/Type/XRef/Size %d/W[1 4 2]/Root 1 0 R/DecodeParms<</Predictor 12/Columns 7>>", container+2)
	fmt.Fprintf(b, "%d 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n", container+1, Flate(dict, up(rows)), xref)
	return b.Bytes()
}

func row(kind, where, index int) []byte {
	b := binary.BigEndian.AppendUint32([]byte{byte(kind)}, uint32(where))
	return binary.BigEndian.AppendUint16(b, uint16(index))
}

// up predicts each row from the one above.
func up(rows [][]byte) string {
	var b strings.Builder
	above := make([]byte, len(rows[0]))
	for _, row := range rows {
		b.WriteByte(2)
		for i := range row {
			b.WriteByte(row[i] - above[i])
		}
		above = row
	}
	return b.String()
}

// Pages makes a file with a page for each content stream; Helvetica is /F1.
func Pages(contents ...string) []byte {
	objects := []string{Catalog, "", Helv}
	var kids strings.Builder
	for _, content := range contents {
		fmt.Fprintf(&kids, "%d 0 R ", len(objects)+1)
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents %d 0 R>>", len(objects)+2), Flate("", content))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d/Resources<</Font<</F1 3 0 R>>>>>>", kids.String(), len(contents))
	return Build("", objects...)
}

// One makes a file of one page: its content stream, the font /F1 and what
// follows it, from object 6 on; 6 is the XObject /X1.
func One(content, font string, more ...string) []byte {
	return Build("", append([]string{Catalog, OnePage, FirstPage, Flate("", content), font}, more...)...)
}
