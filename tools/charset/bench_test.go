package charset

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

var benchTexts = []struct{ encoding, text string }{
	{"GBK", "连接数据库失败，请检查配置文件中的主机名和端口。\n"},
	{"GB18030", "连接数据库失败，请检查配置文件中的主机名和端口。\n"},
	{"Shift_JIS", "データベースに接続できませんでした。設定を確認してください。\n"},
	{"EUC-KR", "데이터베이스에 연결할 수 없습니다. 설정을 확인하십시오.\n"},
	{"windows-1251", "Не удалось подключиться к базе данных, проверьте настройки.\n"},
	{"windows-1252", "Die Verbindung zur Datenbank konnte nicht geöffnet werden, bitte Einstellungen prüfen.\n"},
}

// benchBytes is about 1 MiB of a text.
func benchBytes(b *testing.B, e Encoding, text string) []byte {
	line, err := e.Encode(text)
	if err != nil {
		b.Fatal(err)
	}
	return bytes.Repeat(line, (1<<20)/len(line))
}

func benchmark(b *testing.B, f func(e Encoding, text []byte)) {
	for _, t := range benchTexts {
		e := named(b, t.encoding)
		text := benchBytes(b, e, t.text)
		f(e, text[:100]) // makes the tables
		b.Run(t.encoding, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				f(e, text)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	benchmark(b, func(e Encoding, text []byte) { _, _ = e.Decode(text) })
}

func BenchmarkDecodeXText(b *testing.B) {
	benchmark(b, func(e Encoding, text []byte) { _, _ = e.c.source.NewDecoder().Bytes(text) })
}

func BenchmarkReader(b *testing.B) {
	benchmark(b, func(e Encoding, text []byte) { _, _ = io.Copy(io.Discard, e.NewReader(bytes.NewReader(text))) })
}

func BenchmarkLocate(b *testing.B) {
	benchmark(b, func(e Encoding, text []byte) { e.Locate(text, []int{len(text)}) })
}

func BenchmarkDetect(b *testing.B) {
	benchmark(b, func(_ Encoding, text []byte) { Detect(text) })
}

// The usual case: a source file with one short comment.
func BenchmarkDetectSource(b *testing.B) {
	text := []byte(strings.Repeat("x = f(x) + 1\n", 500) + "# \xca\xfd\xbe\xdd\xbf\xe2\n" + strings.Repeat("x = f(x) + 1\n", 500))
	Detect(text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Detect(text)
	}
}

func BenchmarkEncode(b *testing.B) {
	texts := make(map[string]string) // by the bytes
	benchmark(b, func(e Encoding, text []byte) {
		key := e.Name() + string(text[:8])
		if len(text) > 100 && texts[key] == "" {
			texts[key], _ = e.Decode(text)
		}
		_, _ = e.Encode(texts[key])
	})
}

// The tables and models are made once.
func BenchmarkFirstDetect(b *testing.B) {
	for b.Loop() {
		for _, c := range codecs {
			c.makeDecoder()
		}
		for _, w := range wideReadings {
			readCharacters(w.language)
		}
		for _, n := range narrowReadings {
			for language := range strings.FieldsSeq(n.languages) {
				newNarrow(byName[fold(n.encoding)], language)
			}
		}
	}
}
