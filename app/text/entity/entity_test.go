package entity

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A number of a translation has the value, the joint, the unit and the sign of the number in the source.
func TestCompareEntities(t *testing.T) {
	for _, test := range []struct {
		from, to, source, translation string
		same                          bool
	}{
		// Numbers are joined in the same way.
		{"en", "de", "Cook for 20–25 min.", "20–25 Minuten kochen.", true},
		{"en", "de", "Cook for 20–25 min.", "20 bis 25 Minuten kochen.", true},
		{"en", "de", "Cook for 20–25 min.", "20.25 Minuten kochen.", false},
		{"en", "ja", "Cook for 20–25 min.", "20時25分に料理する。", false},
		{"en", "de", "open from 9–12", "von 9.12 geöffnet", false},
		{"fr", "en", "Ouvert de 9h à 12h.", "Open from 9:12.", false},
		{"fr", "en", "Ouvert de 9h à 12h.", "Open from 9 am to 12 pm.", true},
		{"en", "fr", "Score: 12–10", "Score : 12:10", false},
		{"de", "en", "Geöffnet von 9–18 Uhr.", "The 9:18 is open.", false},
		{"de", "en", "Geöffnet von 9–18 Uhr.", "Open from 9 am to 6 pm.", true},
		{"zh", "en", "步骤2：打开门。", "Open the door at 2:2.", false},
		{"en", "de", "Monday–Friday, 8–18", "Montag 8.Friday, 18", false},
		{"en", "fr", "Wait 30 sec.", "Attendez 30 secours.", false},
		{"zh", "en", "5天后到。", "It came at five o'clock.", false},
		{"en", "de", "Henry VIII had wives.", "Henry VIIIER ISTER FREUNDEN.", false},
		{"en", "fr", "The score was 3-1.", "Le score était de 1-3.", false},
		{"en", "fr", "The score was 3-1.", "Le score était de 3 à 1.", true},
		{"en", "fr", "It is in 4/4 time.", "C'est en 4/4/44.", false},
		{"en", "fr", "pages 121-16", "pages 121-21-16", false},
		{"en", "ja", "A 3 1/2\" disk", "3つの 1/2\"ディスク", false},
		{"en", "de", "A 3 1/2\" disk", "Eine 3,5-Zoll-Diskette", true},
		{"zh", "en", "在5号见。", "See you at 5:00.", false},
		{"en", "ja", "Step 1: open the door. Step 2: close it.", "ステップ1:ドアを開ける。2:30", false},
		{"en", "de", "on 2024-05-06", "am 6.5.2024", true},
		{"en", "de", "on 5/6/2024", "am 6.5.2024", true},
		{"en", "de", "12.5 points", "12,5 Punkte", true},
		{"ja", "en", "5〜7日", "5 to 7 days", true},

		// Values.
		{"en", "fr", "70 people", "70 000 personnes", false},
		{"en", "fr", "1.10", "1,1", false},
		{"en", "de", "5 thousand people", "fünf Millionen Menschen", false},
		{"en", "de", "5 thousand people", "fünftausend Menschen", true},
		{"en", "de", "5 thousand people", "5000 Menschen", true},
		{"en", "fr", "The earth is 4.5 billion years old.", "La terre a 4,5 milliards d'années.", true},
		{"en", "fr", "The earth is 4.5 billion years old.", "La terre a 4,5 1000 ans.", false},
		{"zh", "en", "这辆车要二十五万元。", "This car costs 25,000 yuan.", false},
		{"zh", "en", "这辆车要二十五万元。", "This car costs 250,000 yuan.", true},
		{"ja", "en", "この車は二百五十万円です。", "This car is 200,000 yen.", false},
		{"de", "en", "Ich habe einundzwanzig Bücher.", "I have two hundred books.", false},
		{"de", "en", "Ich habe zweihundertfünfzig Bücher.", "I have two hundred and fifty books.", true},
		{"de", "en", "Ich habe zweihundertfünfzig Bücher.", "I have 250 books.", true},
		{"de", "en", "Ich habe zweihundertfünfzig Bücher.", "I have two hundred books.", false},
		{"es", "en", "Hay quinientas casas.", "There are five hundred houses.", true},
		{"es", "en", "Hay quinientas casas.", "There are fifty houses.", false},
		{"ru", "en", "Двести пятьдесят домов", "250 houses", true},
		{"it", "en", "duecentocinquanta case", "250 houses", true},
		{"zh", "en", "百分之二十的人", "20% of the people", true},
		{"zh", "en", "百分之二十的人", "200 people", false},
		{"zh", "en", "四分之三的人", "3/4 of the people", true},
		{"fr", "en", "trois quarts des gens", "three people", false},
		{"fr", "en", "trois quarts des gens", "three quarters of the people", true},
		{"en", "de", "nineteen eighty-four", "1984", true},
		{"en", "fr", "3½ cups", "3,5 tasses", true},
		{"en", "fr", "2.5 hours", "deux heures et demie", true},
		{"en", "de", "two and a half hours", "2,5 Stunden", true},
		{"fr", "en", "Il a 10 ans et demi.", "He is ten years old.", false},
		{"fr", "en", "Il a 10 ans et demi.", "He is ten and a half years old.", true},
		{"de", "en", "Zweieinhalb Stunden", "Two hours", false},
		{"de", "en", "Zweieinhalb Stunden", "Two and a half hours", true},
		{"de", "en", "eine halbe Million Euro", "200 million euros", false},
		{"de", "en", "eine halbe Million Euro", "half a million euros", true},
		{"en", "ja", "Half a million people", "50万人", true},
		{"en", "ja", "Half a million people", "500万人", false},
		{"fr", "en", "Deux tiers du gâteau", "Two pieces of cake", false},
		{"fr", "en", "Deux tiers du gâteau", "Two thirds of the cake", true},
		{"en", "ja", "Two thirds of the cake", "ケーキの3分の2", true},
		{"ja", "en", "百二十五ページ読みました。", "I read 25 pages.", false},
		{"ja", "en", "百二十五ページ読みました。", "I read 125 pages.", true},
		{"zh", "en", "二〇二四年五月一日", "a day in February", false},
		{"zh", "en", "二〇二四年五月一日", "May 1, 2024", true},
		{"ja", "en", "二割の人", "Two people", false},
		{"ja", "en", "二割の人", "20% of the people", true},
		{"zh", "en", "九折", "10% off", true},
		{"ja", "en", "令和5年に生まれた", "born in 2023", true},
		{"ja", "en", "令和5年に生まれた", "born in 2024", false},
		{"ja", "en", "令和5年に生まれた", "born in Reiwa 5", true},
		{"ja", "en", "令和5年に生まれた", "born on July 5th", false},
		{"ja", "zh", "令和5年に生まれた", "令和5年出生", true},
		{"en", "de", "two and a half hours", "3,5 Stunden", false},
		{"en", "ja", "two and a half hours", "2時間半", true},
		{"en", "zh", "two and a half hours", "两个半小时", true},
		{"en", "de", "in the 1700s", "im 18. Jahrhundert", true},
		{"en", "fr", "in the 1700s", "au XVIIe siècle", false},
		{"en", "ja", "born on May 5, 2010", "2010年5月5日に生まれた", true},
		{"en", "zh", "born on October 10th, 1972", "出生于1972年10月10日", true},
		{"en", "zh", "born on October 10th, 1972", "出生于1972年10月9日", false},

		// Signs.
		{"ja", "en", "気温はマイナス5度です。", "The temperature is 5 degrees.", false},
		{"ja", "en", "気温はマイナス5度です。", "The temperature is minus 5 degrees.", true},
		{"en", "de", "-5 and 3", "5 und -3", false},
		{"en", "de", "5 degrees below zero", "-5 Grad", true},
		{"ja", "en", "零下3度になりました。", "It is three degrees.", false},
		{"ja", "en", "零下3度になりました。", "It is minus three degrees.", true},
		{"en", "de", "values below 1", "Werte unter -1", false},
		{"en", "fr", "Caption 2", "Sous-titre -2", false},
		{"en", "ja", "2 to 10", "（-2～10）", false},
		{"en", "de", "on 31.12.2001", "am -31.12.2001", false},
		{"en", "ja", "92 minus 9 is 83.", "９２引く９は８３です。", true},

		// Units.
		{"en", "fr", "It is 40 g.", "C'est 40 gars.", false},
		{"en", "fr", "It is 40 g.", "C'est 40 grammes.", true},
		{"en", "fr", "It is 40 g.", "C'est 40 g.", true},
		{"de", "en", "Die Spannung ist 230 V.", "The voltage is 230.", false},
		{"de", "en", "Die Spannung ist 230 V.", "The voltage is 230 volts.", true},
		{"en", "ja", "The dose is 0.25 mcg.", "投与量は0.25日です。", false},
		{"en", "ja", "The dose is 0.25 mcg.", "投与量は0.25マイクログラムです。", true},
		{"en", "fr", "90 sec", "90 minutes", false},
		{"en", "fr", "90 sec", "90 secondes", true},
		{"fr", "en", "La voiture consomme 6,5 L/100 km.", "The car consumes 6.5 L/100.", false},
		{"en", "fr", "It costs $500.", "Il coûte 500 €.", false},
		{"en", "fr", "It costs $500.", "Il coûte 500 dollars.", true},
		{"en", "fr", "5 dollars", "5 euros", false},
		{"en", "de", "4 % of it", "4 davon", false},
		{"en", "de", "4% of it", "4 Prozent davon", true},
		{"en", "zh", "4% of it", "百分之四", true},
		{"en", "ru", "5% of it", "5 процентами", true},

		{"en", "de", "It takes \uFFFC hours.", "Es dauert \uFFFC Tage.", false},
		{"en", "de", "It takes \uFFFC hours.", "Es dauert \uFFFC Stunden.", true},
		{"en", "de", "It takes \uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC hours.", "Es dauert \uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC Tage.", false},
		{"en", "de", "It takes \uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC hours.", "Es dauert \uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC Stunden.", true},
		{"en", "de", "It takes 5\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC days.", "Es dauert 5\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC\uFFFC Jahre.", false},
		{"en", "es", "falls below \uFFFC in \uFFFC days", "cae por debajo de \uFFFC en \uFFFC días", true},
		{"en", "es", "\uFFFC destroyed it.", "\uFFFC ha destruido.", true},
		{"en", "de", "within 100 days", "in 100 Tagen", true},
		{"en", "de", "within 100 days", "in 100 Jahren", false},
		{"en", "de", "I paid $200 in taxes.", "Ich zahlte zweihundert Dollar Steuern.", true},
		{"en", "fr", "I will be thirty in May.", "J'aurai trente ans en mai.", true},
		{"en", "de", "delay in ms, mostly 5 to 40 ms", "Verzögerung in ms, meist 5 bis 40 ms", true},
		{"en", "de", "delay in ms, mostly 5 to 40 ms", "Verzögerung in ms, meist 5 bis 40", false},
		{"en", "zh", "30 dollars", "30美元", true},
		{"en", "zh", "30 dollars", "30元", true},
		{"en", "zh", "30 meters", "30美元", false},
		{"en", "zh", "10,000 yen", "10,000日圆", true},
		{"en", "zh", "80 kilometers per hour", "每小时80公里", true},
		{"en", "zh", "80 kilometers per hour", "80公里", false},
		{"en", "ja", "20 degrees Celsius", "20度", true},

		// Zero.
		{"en", "fr", "It takes 0 seconds.", "Cela prend secondes.", false},
		{"en", "de", "Set it to 0 for all.", "Setze es für alle.", false},
		{"en", "zh", "0 means no limit.", "表示无限。", true}, // 无 may stand for it
		{"en", "ja", "There are 0 errors.", "エラーはありません。", true},

		// Roman numerals.
		{"en", "ja", "Vocal II", "ボーカルⅡ", true},
		{"en", "ja", "Vocal II", "ボーカルⅢ", false},
		{"en", "fr", "Louis XVI was king.", "Louis XVII était roi.", false},
		{"en", "fr", "Louis XVI was king.", "Louis XVI était roi.", true},
		{"en", "ja", "Louis XVI was king.", "ルイ16世は王だった。", true},
		{"de", "en", "Papst Benedikt XVI. war Deutscher.", "Pope Benedict XVII was German.", false},
		{"en", "de", "John XXIII", "Johannes XAXIIII", false},
	} {
		t.Run(test.source+" → "+test.translation, func(t *testing.T) {
			err := Compare(t.Context(), test.source, test.translation, test.from, test.to)
			if test.same {
				assert.NoError(t, err)
			} else {
				assert.Error(t, err)
			}
		})
	}
}
