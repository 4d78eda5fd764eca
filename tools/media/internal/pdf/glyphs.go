package pdf

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// glyphNames has the glyphs that are named by a word, as "name character".
// Letters with accents are composed from their parts instead.
var glyphNames = parseGlyphs(`
exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' quoteright ’ quoteleft ‘
parenleft ( parenright ) asterisk * plus + comma , hyphen - minus − period . slash / zero 0 one 1 two 2 three 3
four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @
bracketleft [ backslash \ bracketright ] asciicircum ^ underscore _ grave ` + "`" + ` braceleft { bar | braceright } asciitilde ~
exclamdown ¡ cent ¢ sterling £ currency ¤ yen ¥ brokenbar ¦ section § dieresis ¨ copyright © ordfeminine ª
guillemotleft « guillemotright » logicalnot ¬ registered ® macron ¯ overscore ¯ degree ° plusminus ± twosuperior ²
threesuperior ³ acute ´ mu µ paragraph ¶ periodcentered · middot · cedilla ¸ onesuperior ¹ ordmasculine º
onequarter ¼ onehalf ½ threequarters ¾ questiondown ¿ AE Æ ae æ Oslash Ø oslash ø OE Œ oe œ Eth Ð eth ð Thorn Þ
thorn þ germandbls ß multiply × divide ÷ Dcroat Đ dcroat đ Hbar Ħ hbar ħ dotlessi ı dotlessj ȷ IJ Ĳ ij ĳ kgreenlandic ĸ
Ldot Ŀ ldot ŀ Lslash Ł lslash ł napostrophe ŉ Eng Ŋ eng ŋ Tbar Ŧ tbar ŧ longs ſ florin ƒ
circumflex ˆ caron ˇ breve ˘ dotaccent ˙ ring ˚ ogonek ˛ tilde ˜ hungarumlaut ˝ endash – emdash — quotesinglbase ‚
quotedblleft “ quotedblright ” quotedblbase „ dagger † daggerdbl ‡ bullet • ellipsis … perthousand ‰ guilsinglleft ‹
guilsinglright › fraction ⁄ Euro € euro € trademark ™ fi fi fl fl ff ff ffi ffi ffl ffl longst st
Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο
Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε 
zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ sigma σ sigma1 ς tau τ upsilon υ
phi φ chi χ psi ψ omega ω theta1 ϑ phi1 ϕ omega1 ϖ
arrowleft ← arrowup ↑ arrowright → arrowdown ↓ arrowboth ↔ arrowdblleft ⇐ arrowdblright ⇒ arrowdblboth ⇔
universal ∀ partialdiff ∂ existential ∃ emptyset ∅ gradient ∇ element ∈ notelement ∉ suchthat ∋ product ∏ summation ∑
asteriskmath ∗ radical √ proportional ∝ infinity ∞ angle ∠ logicaland ∧ logicalor ∨ intersection ∩ union ∪ integral ∫
therefore ∴ similar ∼ congruent ≅ approxequal ≈ notequal ≠ equivalence ≡ lessequal ≤ greaterequal ≥ propersubset ⊂
propersuperset ⊃ reflexsubset ⊆ reflexsuperset ⊇ circleplus ⊕ circlemultiply ⊗ perpendicular ⊥ dotmath ⋅ lozenge ◊
openbullet ◦ circlecopyrt ○ asteriskcentered ∗ mapsto ↦ lscript ℓ epsilon1 ϵ square □ filledbox ■ triagup ▲ circle ○ checkmark ✓ sfthyphen -
`)

var accents = map[string]string{
	"grave": "\u0300", "acute": "\u0301", "circumflex": "\u0302", "tilde": "\u0303", "macron": "\u0304",
	"breve": "\u0306", "dotaccent": "\u0307", "dot": "\u0307", "dieresis": "\u0308", "ring": "\u030a",
	"hungarumlaut": "\u030b", "caron": "\u030c", "commaaccent": "\u0327", "cedilla": "\u0327", "ogonek": "\u0328",
}

func parseGlyphs(table string) map[string]string {
	glyphs := map[string]string{"space": " ", "nbspace": " "}
	words := strings.Fields(table)
	for i := 0; i+1 < len(words); i += 2 {
		glyphs[words[i]] = words[i+1]
	}
	return glyphs
}

// glyphText gives the text of a glyph by its name, "" if the name tells
// nothing, as "g12" does.
func glyphText(glyph string) string {
	if i := strings.IndexByte(glyph, '.'); i > 0 {
		glyph = glyph[:i] // a variant, as in "a.sc"
	}
	if s, ok := glyphNames[glyph]; ok {
		return s
	}
	if len(glyph) == 1 {
		return glyph
	}
	if glyph == "" || len(glyph) > 40 {
		return ""
	}
	if parts := strings.Split(glyph, "_"); len(parts) > 1 && parts[0] != "" {
		var b strings.Builder
		for _, part := range parts {
			b.WriteString(glyphText(part))
		}
		return b.String()
	}
	if s := unicodeName(glyph); s != "" {
		return s
	}
	if mark, ok := accents[glyph[1:]]; ok && utf8.RuneStart(glyph[0]) {
		return norm.NFC.String(glyph[:1] + mark)
	}
	return ""
}

// unicodeName reads "uni20AC" and "u1F600".
func unicodeName(glyph string) string {
	digits, ok := strings.CutPrefix(glyph, "uni")
	if !ok || len(digits) < 4 {
		if digits, ok = strings.CutPrefix(glyph, "u"); !ok || len(digits) < 4 || len(digits) > 6 {
			return ""
		}
	} else {
		digits = digits[:4]
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || n == 0 || n > 0x10ffff || n >= 0xd800 && n < 0xe000 {
		return ""
	}
	return string(rune(n))
}
