package entity

import (
	"slices"
	"strconv"
	"strings"
)

// clocks makes times and decimals of numbers beside words for a half or a quarter: half past two, halb drei, deux heures et quart,
// two and a half.
func (r *reader) clocks(list []numeral) []numeral {
	times := list[:0]
	for i := 0; i < len(list); i++ {
		if i+1 < len(list) {
			if n, ok := r.clock(list[i], list[i+1]); ok {
				times = append(times, n)
				i++
				continue
			}
		}
		times = append(times, list[i])
	}
	return times
}

// clock returns the time that two adjacent numerals make.
func (r *reader) clock(a, b numeral) (n numeral, ok bool) {
	if b.start-a.end > longestWord || b.start < a.end {
		return n, false
	}
	words := beside().words
	between := strings.TrimSpace(foldWords(r.text[a.end:b.start]))
	past, to := slices.Contains(words["past"], between), slices.Contains(words["to"], between)
	minutes := r.minutesOf(a)
	switch {
	case a.part && minutes == 30 && (between == "" || between == "a") && b.spelled && len(b.readings) == 1 && strings.HasSuffix(b.readings[0], "000"): // half a million
		value, err := strconv.ParseInt(b.readings[0], 10, 64)
		n = numeral{readings: []string{strconv.FormatInt(value/2, 10)}, optional: true, spelled: true, word: true, unit: b.unit, start: a.start, end: b.end}
		return n, err == nil
	case a.part && minutes == 30 && between == "" && slices.Contains(words["half to"], r.lang): // halb drei
		return clockOf(a, b, -30)
	case a.part && minutes > 0 && past:
		return clockOf(a, b, minutes)
	case a.word && (between == "past" || between == "minutes past" || between == "minutes to"): // ten past two
		minutes, err := strconv.Atoi(a.readings[0])
		if err != nil || minutes >= 30 {
			return n, false
		}
		if between == "minutes to" {
			minutes = -minutes
		}
		return clockOf(a, b, minutes)
	case a.part && minutes == 15 && to:
		return clockOf(a, b, -minutes)
	case r.minutesOf(b) == 0:
		return n, false
	}
	hours, joint, _ := strings.Cut(between, " ")
	hourly := isHour(" " + hours)
	if !hourly && a.unit.ids == nil { // dix ans et demi
		joint = between
		before := strings.Fields(foldWords(r.text[max(0, a.start-longestJoin):a.start]))
		hourly = len(before) > 0 && slices.Contains(words["hourly"], before[len(before)-1]) // las dos y media, but not dos y media
	}
	switch joins := slices.Contains(words["join"], strings.TrimSuffix(joint, " a")); {
	case joins && !hourly && len(a.readings) == 1 && r.minutesOf(b) == 30: // two and a half
		n = numeral{readings: []string{a.readings[0] + ".5"}, optional: true, spelled: true, word: true, start: a.start, end: b.end}
		if n.unit = a.unit; n.unit.ids == nil {
			n.unit = r.unitBehind(n.end)
		}
		return n, true
	case joins && hourly:
		n, ok = clockOf(b, a, r.minutesOf(b))
		if ok && r.minutesOf(b) == 30 { // deux heures et demie
			n.readings = append(n.readings, a.readings[0]+".5")
		}
		return n, ok
	case !hourly:
		return n, false
	case slices.Contains(words["minus"], strings.TrimSuffix(strings.TrimSuffix(joint, " le"), " un")):
		return clockOf(b, a, -r.minutesOf(b))
	}
	return n, false
}

// minutesOf returns the minutes that a word for a half or a quarter stands for, or 0.
func (r *reader) minutesOf(n numeral) int {
	switch word := foldWords(r.text[n.start:n.end]); {
	case slices.Contains(beside().words["half"], word):
		return 30
	case slices.Contains(beside().words["quarter"], word):
		return 15
	}
	return 0
}

// clockOf returns the time some minutes after, or before, the hour of a numeral beside a word.
func clockOf(word, hour numeral, minutes int) (n numeral, ok bool) {
	if len(hour.readings) == 0 || hour.parts != nil || hour.month {
		return n, false
	}
	h, err := strconv.Atoi(hour.readings[0])
	if err != nil || h < 1 || h > 24 {
		return n, false
	}
	if minutes < 0 {
		h, minutes = h+11, minutes+60
	}
	n = numeral{form: clock, hour: true, optional: true, spelled: true, word: true, start: min(word.start, hour.start), end: max(word.end, hour.end)}
	m := twoDigits(strconv.Itoa(minutes))
	for _, reading := range bothHours(strconv.Itoa(h % 24)) {
		n.readings = append(n.readings, reading+":"+m)
	}
	n.parts = append([]numeral{{readings: bothHours(strconv.Itoa(h % 24)), hour: true}}, each([]string{m})...)
	return n, true
}
