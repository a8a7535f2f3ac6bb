"""Writes app/text/entity/units.txt: the names of units and currencies in the languages of M2M100.

The names are those of Unicode's CLDR by way of Babel (PyPI). Run it with a newer Babel to bring them up to date:

    python3 -m venv build/entitywords && build/entitywords/bin/pip install babel==2.19.0
    build/entitywords/bin/python scripts/entitywords/units.py >app/text/entity/units.txt
"""

import re

import babel
from babel import Locale, UnknownLocaleError

LANGUAGES = """af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy id
    ig is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no oc or pa pl ps pt ro ru sd si sk sl so sq sr ss
    su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu""".split()

# CLDR's units, without those that texts hardly name.
UNITS = """angle-degree area-hectare area-square-meter area-square-kilometer area-square-foot area-acre concentr-percent
    concentr-permille digital-byte digital-bit digital-kilobyte digital-megabyte digital-gigabyte digital-terabyte
    duration-year duration-month duration-week duration-day duration-hour duration-minute duration-second duration-millisecond
    electric-ampere electric-milliampere electric-volt electric-ohm energy-kilocalorie energy-calorie energy-joule
    energy-kilowatt-hour frequency-hertz frequency-kilohertz frequency-megahertz frequency-gigahertz graphics-pixel
    graphics-dot-per-inch length-kilometer length-meter length-centimeter length-millimeter length-micrometer length-nanometer
    length-mile length-yard length-foot length-inch light-lumen mass-tonne mass-kilogram mass-gram mass-milligram mass-microgram
    mass-pound mass-ounce power-watt power-kilowatt power-megawatt power-horsepower pressure-bar pressure-pascal
    pressure-hectopascal pressure-pound-force-per-square-inch speed-kilometer-per-hour speed-meter-per-second
    speed-mile-per-hour temperature-celsius temperature-fahrenheit volume-liter volume-deciliter volume-centiliter
    volume-milliliter volume-cubic-meter volume-cubic-centimeter volume-gallon volume-pint volume-cup volume-tablespoon
    volume-teaspoon""".split()

# Currencies of one name: a text rarely says whose dollar it means.
CURRENCIES = {
    "dollar": "USD AUD CAD", "euro": "EUR", "pound": "GBP EGP", "yen": "JPY", "yuan": "CNY", "won": "KRW", "rupee": "INR PKR",
    "ruble": "RUB BYN", "franc": "CHF XAF", "krone": "NOK DKK", "krona": "SEK ISK", "zloty": "PLN", "koruna": "CZK",
    "forint": "HUF", "lira": "TRY", "peso": "MXN ARS", "real": "BRL", "hryvnia": "UAH", "shekel": "ILS", "rand": "ZAR",
}

SIGNS = {"dollar": "$", "euro": "€", "pound": "£", "yen": "¥ ￥", "yuan": "¥ ￥ 元 RMB", "won": "₩", "rupee": "₹ Rs", "ruble": "₽",
         "zloty": "zł", "lira": "₺", "hryvnia": "₴", "shekel": "₪", "real": "R$", "peso": "$"}

# Symbols and abbreviations in use that CLDR lacks, in all languages.
SYMBOLS = {
    "concentr-percent": "% ％ ٪", "concentr-permille": "‰", "mass-microgram": "mcg µg μg ug", "mass-pound": "lb lbs", "mass-ounce": "oz",
    "mass-gram": "g gr", "mass-kilogram": "kg Kg KG", "mass-milligram": "mg", "mass-tonne": "t", "volume-milliliter": "ml mL",
    "volume-liter": "l L", "volume-centiliter": "cl cL", "volume-deciliter": "dl dL", "duration-hour": "h hr hrs", "duration-minute": "min mins",
    "duration-second": "s sec secs", "duration-millisecond": "ms", "pressure-pound-force-per-square-inch": "psi",
    "speed-kilometer-per-hour": "km/h kmh kph", "speed-mile-per-hour": "mph", "speed-meter-per-second": "m/s",
    "temperature-celsius": "°C ℃", "temperature-fahrenheit": "°F ℉", "angle-degree": "° deg", "length-kilometer": "km", "length-meter": "m",
    "length-centimeter": "cm", "length-millimeter": "mm", "length-micrometer": "µm μm", "length-nanometer": "nm",
    "length-inch": "″", "length-foot": "ft", "length-yard": "yd", "length-mile": "mi",
    "area-square-meter": "m² m2", "area-square-kilometer": "km² km2",
    "volume-cubic-meter": "m³ m3", "volume-cubic-centimeter": "cm³ cm3 cc", "electric-volt": "V", "electric-ampere": "A", "electric-milliampere": "mA",
    "electric-ohm": "Ω Ω", "power-watt": "W", "power-kilowatt": "kW KW", "power-megawatt": "MW", "energy-kilowatt-hour": "kWh", "energy-kilocalorie": "kcal",
    "energy-joule": "J", "frequency-hertz": "Hz", "frequency-kilohertz": "kHz KHz", "frequency-megahertz": "MHz", "frequency-gigahertz": "GHz",
    "digital-byte": "B", "digital-kilobyte": "kB KB KiB", "digital-megabyte": "MB MiB", "digital-gigabyte": "GB GiB",
    "digital-terabyte": "TB TiB", "graphics-pixel": "px", "graphics-dot-per-inch": "dpi", "pressure-bar": "bar", "pressure-pascal": "Pa",
    "pressure-hectopascal": "hPa", "light-lumen": "lm",
    "other-beats-per-minute": "bpm", "other-revolutions-per-minute": "rpm", "digital-megabits-per-second": "Mbps Mbit/s Mb/s",
    "digital-kilobits-per-second": "kbps kbit/s kb/s", "digital-gigabits-per-second": "Gbps Gbit/s Gb/s", "other-frames-per-second": "fps",
    "consumption-liter-per-100-kilometer": "L/100_km l/100_km L/100km l/100km", "concentr-milligram-per-milliliter": "mg/mL mg/ml",
    "concentr-milligram-per-kilogram": "mg/kg", "light-decibel": "dB", "concentr-ppm": "ppm", "energy-newton-meter": "Nm", "power-milliwatt": "mW",
    "electric-milliampere-hour": "mAh", "power-volt-ampere": "VA",
}

# Words in use that CLDR lacks.
EXTRA = {
    "en": {"duration-hour": "o'clock", "mass-pound": "pound pounds", "length-foot": "feet foot", "mass-tonne": "ton tons tonne tonnes"},
    "ja": {"length-kilometer": "キロ", "mass-kilogram": "キロ", "length-centimeter": "センチ", "length-millimeter": "ミリ",
           "volume-milliliter": "ミリ", "volume-cubic-centimeter": "シーシー", "concentr-percent": "パーセント 割", "duration-month": "か月 ヶ月 カ月 箇月",
           "angle-degree": "度", "temperature-celsius": "度", "temperature-fahrenheit": "度"},
    "zh": {"mass-kilogram": "公斤 千克", "length-kilometer": "公里 千米", "currency-yuan": "元 块 圆", "concentr-percent": "百分之",
           "duration-month": "个月", "duration-hour": "小时 点 时", "duration-minute": "分 分钟", "angle-degree": "度",
           "temperature-celsius": "度", "temperature-fahrenheit": "度", "duration-day": "天 日", "currency-yen": "日圆 日元", "currency-dollar": "美元 美金 元"},
    "de": {"duration-hour": "Std. Stunde Stunden Uhr", "length-inch": "Zoll", "mass-tonne": "Tonnen Tonne"},
    "fr": {"length-inch": "pouces pouce po", "mass-pound": "livres livre", "digital-byte": "o", "digital-kilobyte": "ko Ko Kio", "digital-megabyte": "Mo Mio", "digital-gigabyte": "Go Gio",
           "digital-terabyte": "To", "duration-hour": "heures heure", "other-frames-per-second": "i/s"},
    "es": {"length-inch": "pulgadas pulgada pulg"},
    "ru": {"concentr-percent": "процент", "digital-byte": "Б", "digital-kilobyte": "КБ Кб кб КиБ", "digital-megabyte": "МБ Мб мб МиБ", "digital-gigabyte": "ГБ Гб ГиБ",
           "duration-second": "сек с", "digital-kilobits-per-second": "кбит/с", "digital-megabits-per-second": "Мбит/с", "graphics-pixel": "пикс",
           "angle-degree": "град", "other-frames-per-second": "кадров/сек кадра/сек", "duration-minute": "мин", "duration-hour": "час ч"},
}


UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff]"


def names(data, unit):
    """The texts beside the number of all plural forms and widths of a unit."""
    for width in (data.get(unit) or {}).values():
        for form, pattern in width.items() if hasattr(width, "items") else ():
            for text in pattern.values() if hasattr(pattern, "values") else [pattern]:
                if form != "per" and isinstance(text, str) and "{0}" in text:
                    before, after = (part.strip(" \u00a0\u202f\u200f\u200e.") for part in text.split("{0}"))
                    yield from (t for t in (before, after) if t and not (before and after))


def common(names):
    """What all names have: words, or characters where words have no spaces between them."""
    if not re.search(UNSPACED, names[0]):
        return [w for w in re.split(r"[\s\u00a0-]+", names[0]) if len(w) > 2 and all(w in re.split(r"[\s\u00a0-]+", n) for n in names)]
    first = min(names, key=len)
    parts = (first[at:at + size] for size in range(len(first), 0, -1) for at in range(len(first) - size + 1))
    return [next((p.strip(" ・") for p in parts if all(p in n for n in names)), "")]


def forms(data, code):
    """The names of a currency by plural form."""
    plural = data["currency_names_plural"].get(code)
    found = dict(plural.items()) if hasattr(plural, "items") else {"other": plural} if plural else {}
    return {**{"name": data["currency_names"].get(code, "")}, **found}


def currency(data, codes):
    """The word of a currency without the country that it is of."""
    every = [forms(data, code) for code in codes]
    for form in dict.fromkeys(f for e in every for f in e):
        texts = [(e.get(form) or e.get("other") or e["name"]).lower() for e in every]
        if len(codes) > 1:
            yield from common(texts)
            continue
        yield texts[0]
        words = texts[0].split()
        if len(words) > 1 and not re.search(UNSPACED, texts[0]):  # "Japanese yen", "yen japonais": as with pounds
            pound = forms(data, "EGP")["name"].lower().split()
            last = pound and any(pound[-1] in n for n in [forms(data, "GBP")["name"].lower().split(), forms(data, "SYP")["name"].lower().split()])
            yield words[-1] if last else words[0]


def line(language, table):
    cells = [unit + "=" + "|".join(dict.fromkeys(words)) for unit, words in table.items() if words]
    print("\t".join([language] + cells))


def main():
    print("# The names of units and currencies, by language; the first line's are of all languages. Made by scripts/entitywords from")
    print("# Unicode's CLDR by Babel " + babel.__version__ + ". Copyright 1991-2025 Unicode, Inc., https://www.unicode.org/license.txt")
    everywhere = {unit: symbols.replace("_", " ").split() if "_" not in symbols else [s.replace("_", " ") for s in symbols.split()] for unit, symbols in SYMBOLS.items()}
    for name, codes in CURRENCIES.items():
        everywhere["currency-" + name] = SIGNS.get(name, "").split() + codes.split()
    line("*", everywhere)
    for language in LANGUAGES:
        try:
            data = Locale.parse({"no": "nb", "tl": "fil", "ba": "", "ss": "", "zh": "zh_Hans"}.get(language, language) or "xx")._data
        except (UnknownLocaleError, ValueError):
            continue
        extra = EXTRA.get(language, {})
        table = {}
        for unit in dict.fromkeys(UNITS + list(extra)):
            known = everywhere.get(unit, [])
            words = [*names(data["unit_patterns"], unit), *extra.get(unit, "").split()]
            table[unit] = [w for w in words if w and w not in known and not any(c.isdigit() for c in w) and len(w) <= 32]
        for name, codes in CURRENCIES.items():
            words = [*currency(data, codes.split()), *extra.get("currency-" + name, "").split()]
            table["currency-" + name] = [w for w in words if w and w not in everywhere["currency-" + name]]
        line(language, table)


main()
