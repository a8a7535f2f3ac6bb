"""Makes up what a translation has to copy: names, numbers, addresses, placeholders, markers."""
import string

# The markers that package markup puts in place of unchangeable parts: style.go has
# the same four, in the order of its attempts.
MARKERS = (("[", "]"), ("XA", ""), ("<", ">"), ("#", ""))

EMOJI = ("😀 😁 😂 😃 😄 😅 😉 😊 😍 😎 😘 😜 😢 😭 😡 😱 🤔 🙂 🙃 🙄 🙏 👍 👎 👋 👏 💪 🎉 🎁 🎂 🎵 🔥 ✨ ⭐ 🌟 ☀ 🌈 ❄ 🌸 🍀 🌍 "
         "🐱 🐶 🍎 🍕 🍣 🍺 ☕ 🚀 🚗 🚲 ✈ 🏠 💻 📱 📷 📚 💡 💰 ⏰ ✅ ❌ ⚠ ❤ 💔 💯").split()

_ONSETS = "b c d f g h j k l m n p r s t v w z br ch cl dr fr gr kl kr ph pl pr sch sh sk sl st str th tr".split()
_VOWELS = "a e i o u ai au ea ee ei ia ie io oo ou".split()
_CODAS = ["", "", "", *"b ck d g k l ll m n nd ng nk nn p r rd rg rk rs s ss st t tz x".split()]
_WORDS = ("about admin api app blog build cart cat code config data demo docs download edit file help home image index "
          "info item link list login main map menu name news note order page photo price profile report search "
          "settings shop start status store test time title token total type update user value video web").split()
_HOSTS = ("example.com", "example.org", "example.net", "test.io", "shop.example.com", "docs.example.org")


def marker(random, style, number):
    """A marker of a style, an index of MARKERS."""
    opening, closing = MARKERS[style]
    return f"{opening}{number}{closing}"


def name(random):
    """A name that no language translates, of one to three syllables."""
    syllables = (random.choice(_ONSETS) + random.choice(_VOWELS) + random.choice(_CODAS)
                 for _ in range(random.choice((1, 2, 2, 2, 3))))
    return "".join(syllables).capitalize()


def number(random, digits=None):
    """Digits, not starting with 0."""
    digits = digits or random.choice((1, 2, 2, 3, 4))
    return str(random.randrange(10 ** (digits - 1), 10 ** digits))


def figure(random):
    """A number as it stands by itself: a price, a date, a time, a version."""
    n = lambda low, high: random.randint(low, high)
    return random.choice((
        lambda: number(random),
        lambda: number(random),
        lambda: f"{n(0, 999)}.{n(0, 99)}",
        lambda: f"{n(1, 999)},{n(0, 999):03}",
        lambda: f"{n(0, 23)}:{n(0, 59):02}",
        lambda: f"{n(1900, 2099)}-{n(1, 12):02}-{n(1, 28):02}",
        lambda: f"{n(1, 28)}/{n(1, 12)}/{n(1950, 2040)}",
        lambda: f"{n(1, 100)}%",
        lambda: f"${n(1, 999)}",
        lambda: f"v{n(0, 9)}.{n(0, 20)}.{n(0, 20)}",
        lambda: f"{random.choice(string.ascii_uppercase)}{n(1, 999)}",
        lambda: f"+{n(1, 99)} {n(100, 999)} {n(1000, 9999)}",
    ))()


def address(random):
    """A URL, an e-mail address, a path, a mention or a topic."""
    word = lambda: random.choice(_WORDS)
    return random.choice((
        lambda: f"https://{random.choice(_HOSTS)}/{word()}",
        lambda: f"https://www.{name(random).lower()}.com",
        lambda: f"www.{name(random).lower()}.{random.choice(('com', 'org', 'de', 'fr', 'jp', 'cn'))}",
        lambda: f"https://{random.choice(_HOSTS)}/{word()}/{number(random)}?{word()}={word()}",
        lambda: f"{name(random).lower()}@{random.choice(_HOSTS)}",
        lambda: f"/{word()}/{word()}/{word()}",
        lambda: f"{word()}_{word()}.{random.choice(('txt', 'py', 'go', 'pdf', 'png', 'json'))}",
        lambda: f"@{name(random).lower()}",
        lambda: f"#{word()}",
    ))()


def placeholder(random):
    """A variable as programs write it, or code."""
    word = random.choice(_WORDS)
    return random.choice((
        "{" + word + "}", "{" + str(random.randrange(4)) + "}", "{{" + word + "}}", "${" + word + "}", "%s", "%d",
        f"%({word})s", f"%{random.randint(1, 3)}$s", f"<%= {word} %>", f"`{word}`", f"{word}_{random.choice(_WORDS)}",
        f"⟦{random.randint(1, 9)}⟧", f"__{word}__", f"<{word}>", f"[{word}]",
    ))


# Tags and Markdown that can surround a word.
AROUND = (("<b>", "</b>"), ("<i>", "</i>"), ("<em>", "</em>"), ("<strong>", "</strong>"), ("<code>", "</code>"),
          ("<a>", "</a>"), ("**", "**"), ("*", "*"), ("_", "_"), ("`", "`"), ('"', '"'), ("[", "]"), ("⟦", "⟧"), ("<1>", "</1>"))


def alone(random):
    """A text that is its own translation in every language."""
    return random.choice((
        lambda: figure(random), lambda: figure(random), lambda: address(random), lambda: placeholder(random),
        lambda: "".join(random.choices(EMOJI, k=random.randint(1, 3))), lambda: "OK", lambda: name(random),
        lambda: f"{name(random)} {name(random)}", lambda: marker(random, random.randrange(len(MARKERS)), random.randint(1, 9)),
        lambda: random.choice(("OK!", "OK.", "A", "B", "C", "PDF", "CD", "DVD", "USB", "Wi-Fi", "iPhone", "Google", "..."))))()
