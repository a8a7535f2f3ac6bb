// Package wordstest has texts with formatting inside of their words, as files of several kinds, and says
// what is wrong with their translations. It is for tests and measurements, and reads the files without
// the packages that translate them.
package wordstest

import (
	"fmt"
	"strings"
)

// Case is a paragraph.
type Case struct {
	Kind string // of its formatting, such as "first letter"
	Lang string // a code
	// Text has elements: b, i, u, c (a colour), a (a link), drop (a drop cap), sup and sub. <mark/> is the
	// target of a link, <note/> refers to a note, and <run/> is where a word processor splits text without a
	// difference in style.
	Text string
}

// split is a way in which a word is formatted: how it is written in place of the word, which has at least six
// letters. 1 stands for its first letter, 9 for the last one, 2 and 3 for the halves of the rest, 0 for all.
var splits = []struct{ kind, form string }{
	{"first letter", "<b>1</b>239"},
	{"first letter", "<i>1</i>239"},
	{"last letter", "123<b>9</b>"},
	{"middle", "1<b>2</b>39"},
	{"middle", "12<i>3</i>9"},
	{"beside a link", "<a>0</a>s"},
	{"beside a link", "un<a>0</a>"},
	{"colour", "<c>12</c>39"},
	{"colour", "12<c>39</c>"},
	{"two styles", "<b>12</b><i>39</i>"},
	{"nested", "<b><i>1</i></b>239"},
	{"nested", "<b>12<i>39</i></b>"},
	{"nested in a link", "<a><b>1</b>239</a>"},
	{"over words", "<b>0 w</b>ord"},
	{"over words", "wo<b>rd 0</b>"},
	{"spaces at edges", "<b>0 </b>"},
	{"spaces at edges", "<i> 0</i>"},
	{"spaces at edges", "<b> 12</b>39"},
	{"runs", "12<run/>39"},
	{"runs", "1<run/>2<run/>39"},
	{"soft hyphen", "12\u00ad39"},
	{"soft hyphen", "<b>12\u00ad</b>39"},
	{"zero-width space", "12\u200b39"},
	{"zero-width space", "12\u200b<b>39</b>"},
	{"mark", "12<mark/>39"},
	{"note", "0<note/>"},
	{"note", "<b>1</b>239<note/>"},
}

// sentences have a word between brackets that is split. A space beside the brackets is part of the form where that
// begins or ends with one.
var sentences = []string{
	"The old [teacher] waits at the station.",
	"We wrote a long [letter] about the garden.",
	"Nobody could find the [kitchen] last night.",
	"She said that the [weather] was very bad.",
	"My brother bought an [expensive] car yesterday.",
	"[Children] play in the street every day.",
	"Please bring me the [newspaper].",
	"They do not like the [mountain], but they love the sea.",
}

// others are what the table does not make: kind, language and text. What stands between braces has to stay together.
const others = `
drop cap|en|<drop>T</drop>he old man went home in the evening.
drop cap|en|<drop>O</drop>nce upon a time there was a king.
drop cap|en|<drop>I</drop>t was a dark night.
drop cap|en|<drop>A</drop> man walked down the street.
drop cap|en|<drop>“W</drop>here is my book?” she asked.
drop cap|fr|<drop>L</drop>e vieil homme est rentré chez lui.
drop cap|fr|<drop>L’</drop>homme est parti hier.
drop cap|fr|<drop>É</drop>coute la musique avec moi.
drop cap|de|<drop>D</drop>er alte Mann ging nach Hause.
ordinal|en|This is the {1<sup>st</sup>} day of school.
ordinal|en|He came in {2<sup>nd</sup>} place in the race.
ordinal|en|We live on the {3<sup>rd</sup>} floor of the house.
ordinal|en|The {21<sup>st</sup>} century has begun.
ordinal|en|They met on the {4<sup>th</sup>} of July, and on the {5<sup>th</sup>} they left.
ordinal|fr|Il est le {1<sup>er</sup>} de sa classe.
ordinal|fr|Elle est arrivée {2<sup>e</sup>} de la course.
ordinal|fr|Le {XIX<sup>e</sup>} siècle était long.
ordinal|fr|La {1<sup>re</sup>} fois est difficile.
unit|en|The room has 20 {m<sup>2</sup>} of space.
unit|en|The lake covers 300 {km<sup>2</sup>} of land.
unit|en|He bought 5 {m<sup>3</sup>} of wood.
unit|en|It moves at 9 {m/s<sup>2</sup>} today.
unit|en|The box holds 40 {cm<sup>3</sup>}.
unit|en|There are {10<sup>6</sup>} people in the town.
unit|en|The field is 12 {m<sup>2</sup>}, and the house is 80 {m<sup>2</sup>}.
unit|de|Das Zimmer hat 20 {m<sup>2</sup>}.
unit|fr|La chambre a 20 {m<sup>2</sup>} de surface.
unit|ja|部屋は20{m<sup>2</sup>}です。
unit|zh|房间有20{m<sup>2</sup>}。
formula|en|Plants need {CO<sub>2</sub>} and light.
formula|en|Water is {H<sub>2</sub>O} and nothing else.
formula|en|{H<sub>2</sub>SO<sub>4</sub>} is a dangerous acid.
formula|en|Sugar is {C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>} for a teacher.
formula|en|The value of {x<sub>1</sub>} is not known.
formula|en|Do not drink <b>{H<sub>2</sub>O}</b> from the river.
formula|en|The <a>{CO<sub>2</sub>} report</a> is on the table.
formula|en|The {O<sub>2</sub>} in the water is <b>b</b>ad.
formula|en|{Na<sup>+</sup>} and {Cl<sup>-</sup>} are in the sea.
formula|fr|Le {CO<sub>2</sub>} est dans l’air.
formula|de|Das {H<sub>2</sub>O} ist kalt.
formula|ja|水は{H<sub>2</sub>O}です。
formula|zh|水是{H<sub>2</sub>O}。
raised digit|en|He wrote a letter{<sup>1</sup>} to his mother.
raised digit|en|They sold the house{<sup>12</sup>}, but not the garden.
raised digit|en|She loves music.{<sup>3</sup>} He does not.
raised digit|de|Er schrieb einen Brief{<sup>1</sup>}.
raised word|en|The trade<sup>mark law</sup> is new.
raised word|en|This is the Windows<sup>TM</sup> program of my brother.
abbreviation|fr|{M<sup>me</sup>} Martin est rentrée.
abbreviation|fr|{M<sup>lle</sup>} Martin chante bien.
abbreviation|fr|Prenez le {n<sup>o</sup>} 5 dans la liste.
abbreviation|fr|Prenez le n° 5 dans la liste.
abbreviation|fr|Le {D<sup>r</sup>} Martin est là.
abbreviation|en|{N<sup>o</sup>} 5 is on the list.
abbreviation|de|Die <b>z</b>. B. genannten Bücher sind alt.
note|en|The king died.<note/> The queen lived.
note|en|The king<note/> and the queen<note/> died.
note|de|Der König ist tot.<note/> Die Königin lebt.
note|ja|王は死んだ。<note/>女王は生きている。
note|zh|国王死了。<note/>女王活着。
note|fr|Le roi<note/> est mort.
mark|en|<mark/>The king died last night.
mark|en|The king died<mark/> last night.
mark|en|Inter<mark/>national trade is <b>g</b>ood.
several|en|<b>T</b>he <b>w</b>orld <b>h</b>as changed.
several|en|<i>The</i> <b>tea</b>cher and <a>the student</a>s went home.
several|en|<b>H</b>yper<b>T</b>ext is a word.
several|en|<a>Home</a><a>about</a> us all.
several|en|The <c>red</c>-haired girl and the <b>b</b>lue-eyed boy.
several|en|I am not <i>n</i>’t sure of <b>it</b>’s name.
several|en|The (<b>s</b>)he in the <i>book(s)</i> is me.
several|en|The <u>b</u><b>oo</b><i>k</i> is on the table.
several|en|The man<b>.</b> He went <i>,</i> home.
several|en|<b>W</b><i>ell</i>, <a>the <b>b</b>ook</a>s are here.
several|fr|L’<b>école</b> est près de l<i>’</i>église.
several|fr|Aujour<b>d’hui</b>, il fait beau.
several|fr|<a>livre</a>s d’<b>a</b>mis
several|de|Das Schul<b>haus</b> ist alt und die Haus<a>tür</a> ist neu.
several|de|<b>Fuß</b>ball und Hand<i>ball</i> sind Spiele.
several|de|Das ist ein Bei<run/>spiel für Kin<run/>der.
characters|ja|<b>日</b>本は美しい国です。
characters|ja|日<b>本</b>は美しい国です。
characters|ja|彼は<a>学校</a>へ行きました。
characters|ja|彼は<a>学</a>校へ行きました。
characters|ja|私の<b>本</b>は<i>机</i>の上にあります。
characters|ja|<c>東</c><b>京</b>に住んでいます。
characters|ja|<b>今日は<i>天</i>気</b>がいいです。
characters|ja|彼女は<run/>医者<run/>です。
characters|ja|駅で<mark/>友達に会いました。
characters|ja|<drop>昔</drop>、王様がいました。
characters|ja|この<b>CD</b>は古いです。
characters|ja|この<b>C</b>Dは古いです。
characters|ja|コ<b>ンピ</b>ュータを買いました。
characters|ja|本を<b>読</b>みます。<i>音</i>楽も聞きます。
characters|zh|<b>中</b>国很大。
characters|zh|中<b>国</b>很大。
characters|zh|他去了<a>学校</a>。
characters|zh|他去了<a>学</a>校。
characters|zh|我的<b>书</b>在<i>桌子</i>上。
characters|zh|<c>北</c><b>京</b>是一个城市。
characters|zh|<b>今天<i>天</i>气</b>很好。
characters|zh|她是<run/>医<run/>生。
characters|zh|我在车站<mark/>遇见了朋友。
characters|zh|<drop>从</drop>前有一个国王。
characters|zh|这张<b>CD</b>很旧。
characters|zh|这张<b>C</b>D很旧。
characters|zh|我喜欢<b>音</b>乐。他喜欢<i>读</i>书。
`

// Cases are all cases. Each sentence has every third split, so that all of them are there often, and none with
// the same words always.
func Cases() []Case {
	var list []Case
	for i, sentence := range sentences {
		before, rest, _ := strings.Cut(sentence, "[")
		word, after, _ := strings.Cut(rest, "]")
		for _, split := range splits {
			form := splitWord(split.form, word)
			b, a := before, after
			if strings.Contains(form, "> ") {
				b = strings.TrimSuffix(b, " ")
			}
			if strings.Contains(form, " </") && strings.HasPrefix(a, " ") {
				a = strings.TrimPrefix(a, " ")
			}
			if i > 0 && strings.HasPrefix(b+form, "<i> ") {
				continue
			}
			list = append(list, Case{split.kind, "en", b + form + a})
		}
	}
	for line := range strings.Lines(strings.TrimSpace(others)) {
		columns := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", 3)
		list = append(list, Case{columns[0], columns[1], columns[2]})
	}
	return list
}

// splitWord writes a word in a form.
func splitWord(form, word string) string {
	n := len(word)
	if form[0] != '<' && form[0] > '9' {
		word = strings.ToLower(word)
	}
	return strings.NewReplacer("0", word, "1", word[:1], "2", word[1:n/2], "3", word[n/2:n-1], "9", word[n-1:]).Replace(form)
}

// Kept are the parts of a case that have to stay together, as Canonical writes them.
func (c Case) Kept() (list []string) {
	for rest := c.Text; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			return list
		}
		inner, after, _ := strings.Cut(after, "}")
		list, rest = append(list, canonicalTags.Replace(inner)), after
	}
}

// canonicalTags makes what Canonical has of raised and lowered text.
var canonicalTags = strings.NewReplacer("<sup>", "^(", "</sup>", ")", "<sub>", "_(", "</sub>", ")")

// String is the case on a line.
func (c Case) String() string { return fmt.Sprintf("%s %s %q", c.Lang, c.Kind, c.Text) }
