package language

// entry is a language of M2M100.
type entry struct {
	code         string
	own, english string // names
	// scripts are those that running text is written in today.
	scripts script
}

// table has the languages in the order of the alphabet. Most names are those of
// CLDR, from golang.org/x/text/language/display. They are copied, since importing
// that package links all names in all languages; a test compares them and lists the
// names that are not there, or are for more or less than what the model means.
var table = [...]entry{
	{"af", "Afrikaans", "Afrikaans", latin},
	{"am", "አማርኛ", "Amharic", ethiopic},
	{"ar", "العربية", "Arabic", arabic},
	{"ast", "asturianu", "Asturian", latin},
	{"az", "azərbaycan", "Azerbaijani", latin},
	{"ba", "башҡорт теле", "Bashkir", cyrillic},
	{"be", "беларуская", "Belarusian", cyrillic},
	{"bg", "български", "Bulgarian", cyrillic},
	{"bn", "বাংলা", "Bengali", bengali},
	{"br", "brezhoneg", "Breton", latin},
	{"bs", "bosanski", "Bosnian", latin | cyrillic},
	{"ca", "català", "Catalan", latin},
	{"ceb", "Cebuano", "Cebuano", latin},
	{"cs", "čeština", "Czech", latin},
	{"cy", "Cymraeg", "Welsh", latin},
	{"da", "dansk", "Danish", latin},
	{"de", "Deutsch", "German", latin},
	{"el", "Ελληνικά", "Greek", greek},
	{"en", "English", "English", latin},
	{"es", "español", "Spanish", latin},
	{"et", "eesti", "Estonian", latin},
	{"fa", "فارسی", "Persian", arabic},
	{"ff", "Pulaar", "Fulah", latin | adlam},
	{"fi", "suomi", "Finnish", latin},
	{"fr", "français", "French", latin},
	{"fy", "Frysk", "Western Frisian", latin},
	{"ga", "Gaeilge", "Irish", latin},
	{"gd", "Gàidhlig", "Scottish Gaelic", latin},
	{"gl", "galego", "Galician", latin},
	{"gu", "ગુજરાતી", "Gujarati", gujarati},
	{"ha", "Hausa", "Hausa", latin},
	{"he", "עברית", "Hebrew", hebrew},
	{"hi", "हिन्दी", "Hindi", devanagari},
	{"hr", "hrvatski", "Croatian", latin},
	{"ht", "Kreyòl ayisyen", "Haitian Creole", latin},
	{"hu", "magyar", "Hungarian", latin},
	{"hy", "հայերեն", "Armenian", armenian},
	{"id", "Bahasa Indonesia", "Indonesian", latin},
	{"ig", "Igbo", "Igbo", latin},
	{"ilo", "Ilokano", "Ilocano", latin},
	{"is", "íslenska", "Icelandic", latin},
	{"it", "italiano", "Italian", latin},
	{"ja", "日本語", "Japanese", han | hiragana | katakana},
	{"jv", "Basa Jawa", "Javanese", latin | javanese},
	{"ka", "ქართული", "Georgian", georgian},
	{"kk", "қазақ тілі", "Kazakh", cyrillic},
	{"km", "ខ្មែរ", "Khmer", khmer},
	{"kn", "ಕನ್ನಡ", "Kannada", kannada},
	{"ko", "한국어", "Korean", hangul},
	{"lb", "Lëtzebuergesch", "Luxembourgish", latin},
	{"lg", "Luganda", "Ganda", latin},
	{"ln", "lingála", "Lingala", latin},
	{"lo", "ລາວ", "Lao", lao},
	{"lt", "lietuvių", "Lithuanian", latin},
	{"lv", "latviešu", "Latvian", latin},
	{"mg", "Malagasy", "Malagasy", latin},
	{"mk", "македонски", "Macedonian", cyrillic},
	{"ml", "മലയാളം", "Malayalam", malayalam},
	{"mn", "монгол", "Mongolian", cyrillic | mongolian},
	{"mr", "मराठी", "Marathi", devanagari},
	{"ms", "Bahasa Melayu", "Malay", latin},
	{"my", "မြန်မာ", "Burmese", myanmar},
	{"ne", "नेपाली", "Nepali", devanagari},
	{"nl", "Nederlands", "Dutch", latin},
	{"no", "norsk", "Norwegian", latin},
	{"ns", "Sesotho sa Leboa", "Northern Sotho", latin},
	{"oc", "occitan", "Occitan", latin},
	{"or", "ଓଡ଼ିଆ", "Odia", oriya},
	{"pa", "ਪੰਜਾਬੀ", "Punjabi", gurmukhi | arabic},
	{"pl", "polski", "Polish", latin},
	{"ps", "پښتو", "Pashto", arabic},
	{"pt", "português", "Portuguese", latin},
	{"ro", "română", "Romanian", latin},
	{"ru", "русский", "Russian", cyrillic},
	{"sd", "سنڌي", "Sindhi", arabic | devanagari},
	{"si", "සිංහල", "Sinhala", sinhala},
	{"sk", "slovenčina", "Slovak", latin},
	{"sl", "slovenščina", "Slovenian", latin},
	{"so", "Soomaali", "Somali", latin},
	{"sq", "shqip", "Albanian", latin},
	{"sr", "српски", "Serbian", cyrillic | latin},
	{"ss", "siSwati", "Swati", latin},
	{"su", "Basa Sunda", "Sundanese", latin | sundanese},
	{"sv", "svenska", "Swedish", latin},
	{"sw", "Kiswahili", "Swahili", latin},
	{"ta", "தமிழ்", "Tamil", tamil},
	{"th", "ไทย", "Thai", thai},
	{"tl", "Tagalog", "Tagalog", latin},
	{"tn", "Setswana", "Tswana", latin},
	{"tr", "Türkçe", "Turkish", latin},
	{"uk", "українська", "Ukrainian", cyrillic},
	{"ur", "اردو", "Urdu", arabic},
	{"uz", "o‘zbek", "Uzbek", latin | cyrillic},
	{"vi", "Tiếng Việt", "Vietnamese", latin},
	{"wo", "Wolof", "Wolof", latin},
	{"xh", "isiXhosa", "Xhosa", latin},
	{"yi", "ייִדיש", "Yiddish", hebrew},
	{"yo", "Èdè Yorùbá", "Yoruba", latin},
	{"zh", "中文", "Chinese", han | bopomofo},
	{"zu", "isiZulu", "Zulu", latin},
}

// entries is the table by code.
var entries = func() map[string]entry {
	byCode := make(map[string]entry, len(table))
	for _, entry := range table {
		byCode[entry.code] = entry
	}
	return byCode
}()
