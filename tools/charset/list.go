package charset

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// codecs are all encodings. Aliases are written as fold leaves them.
var codecs = []*codec{
	wide("GBK", simplifiedchinese.GBK, gbk, "gb2312 gb231280 euccn csgb2312 cp936 ms936 windows936 win936 936 xgbk chinese"),
	wide("GB18030", simplifiedchinese.GB18030, gb18030, "gb180302005 gb180302000 cp54936 54936"),
	wide("Big5", traditionalchinese.Big5, big5, "big5hkscs cp950 ms950 windows950 win950 950 cnbig5 xxbig5 csbig5"),
	wide("Shift_JIS", japanese.ShiftJIS, shiftJIS, "sjis xsjis cp932 ms932 windows932 win932 932 windows31j mskanji csshiftjis"),
	wide("EUC-JP", japanese.EUCJP, eucJP, "ujis xeucjp eucjpms cp51932 51932"),
	wide("EUC-KR", korean.EUCKR, eucKR, "uhc cp949 ms949 windows949 win949 949 ksc5601 ksc56011987 ksx1001 korean cseuckr"),

	narrow("windows-1250", charmap.Windows1250, "cp1250 win1250 1250"),
	narrow("windows-1251", charmap.Windows1251, "cp1251 win1251 1251"),
	narrow("windows-1252", charmap.Windows1252, "cp1252 win1252 1252"),
	narrow("windows-1253", charmap.Windows1253, "cp1253 win1253 1253"),
	narrow("windows-1254", charmap.Windows1254, "cp1254 win1254 1254"),
	narrow("windows-1255", charmap.Windows1255, "cp1255 win1255 1255"),
	narrow("windows-1256", charmap.Windows1256, "cp1256 win1256 1256"),
	narrow("windows-1257", charmap.Windows1257, "cp1257 win1257 1257"),
	narrow("windows-1258", charmap.Windows1258, "cp1258 win1258 1258"),
	narrow("windows-874", charmap.Windows874, "cp874 win874 874 tis620 iso885911"),

	narrow("ISO-8859-1", charmap.ISO8859_1, "88591 latin1 l1 isolatin1 cp819 cp28591"),
	narrow("ISO-8859-2", charmap.ISO8859_2, "88592 latin2 l2 isolatin2 cp28592"),
	narrow("ISO-8859-3", charmap.ISO8859_3, "88593 latin3 l3 cp28593"),
	narrow("ISO-8859-4", charmap.ISO8859_4, "88594 latin4 l4 cp28594"),
	narrow("ISO-8859-5", charmap.ISO8859_5, "88595 cyrillic isocyrillic cp28595"),
	narrow("ISO-8859-6", charmap.ISO8859_6, "88596 arabic isoarabic cp28596"),
	narrow("ISO-8859-7", charmap.ISO8859_7, "88597 greek isogreek cp28597"),
	narrow("ISO-8859-8", charmap.ISO8859_8, "88598 hebrew isohebrew iso88598i logical visual cp28598"),
	narrow("ISO-8859-9", charmap.ISO8859_9, "88599 latin5 l5 cp28599"),
	narrow("ISO-8859-10", charmap.ISO8859_10, "885910 latin6 l6"),
	narrow("ISO-8859-13", charmap.ISO8859_13, "885913 latin7 l7 cp28603"),
	narrow("ISO-8859-14", charmap.ISO8859_14, "885914 latin8 l8"),
	narrow("ISO-8859-15", charmap.ISO8859_15, "885915 latin9 l9 latin0 cp28605"),
	narrow("ISO-8859-16", charmap.ISO8859_16, "885916 latin10 l10"),

	narrow("KOI8-R", charmap.KOI8R, "koi8 koi cp20866 20866 cskoi8r"),
	narrow("KOI8-U", charmap.KOI8U, "koi8ru cp21866 21866"),
	narrow("IBM437", charmap.CodePage437, "cp437 437 dos437"),
	narrow("IBM850", charmap.CodePage850, "cp850 850 dos850"),
	narrow("IBM852", charmap.CodePage852, "cp852 852 dos852"),
	narrow("IBM855", charmap.CodePage855, "cp855 855 dos855"),
	narrow("IBM858", charmap.CodePage858, "cp858 858 dos858"),
	narrow("IBM860", charmap.CodePage860, "cp860 860 dos860"),
	narrow("IBM862", charmap.CodePage862, "cp862 862 dos862"),
	narrow("IBM863", charmap.CodePage863, "cp863 863 dos863"),
	narrow("IBM865", charmap.CodePage865, "cp865 865 dos865"),
	narrow("IBM866", charmap.CodePage866, "cp866 866 dos866"),
	narrow("macintosh", charmap.Macintosh, "mac macroman xmacroman csmacintosh"),
	narrow("x-mac-cyrillic", charmap.MacintoshCyrillic, "maccyrillic xmacukrainian"),
}

func narrow(name string, cm *charmap.Charmap, aliases string) *codec {
	return &codec{name: name, aliases: aliases, source: cm, length: one}
}

func wide(name string, source encoding.Encoding, length func([]byte) int, aliases string) *codec {
	return &codec{name: name, aliases: aliases, source: source, length: length}
}
