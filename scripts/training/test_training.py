"""Tests of the parts that a silent mistake would spoil a training run in.

    python -m unittest discover scripts/training
"""
import os
import random
import tempfile
import unittest

import numpy
import torch
import torch.nn.functional as F
from sacrebleu.metrics import CHRF

import augment
import batches
import blend
import checkpoint
import corpus
import data
import distill
import grow
import names
import optimize
import phrases
import tatoeba
import translate
from loss import TiedSoftmax
from model import M2M100, Shape, _attend
from pieces import EOS, PAD


def pair(source, target, languages="en ja"):
    return corpus.Pair(corpus.DIRECT, *languages.split(), source, target)


class Sentences(unittest.TestCase):
    def test_key_ignores_case_width_and_punctuation(self):
        self.assertEqual(corpus.key("Don’t  GO!"), corpus.key("dont go"))
        self.assertEqual(corpus.key("１０時です。"), corpus.key("10時です"))
        self.assertNotEqual(corpus.key("I go."), corpus.key("I went."))
        self.assertEqual(corpus.key("?!"), "")

    def test_files_of_pairs_are_written_whole_and_alike(self):
        pairs = [pair("Go.", "行け。"), pair("Come.", "来い。")]
        with tempfile.TemporaryDirectory() as folder:
            for name in ("pairs.tsv", "pairs.tsv.gz"):
                path = os.path.join(folder, name)
                contents = []
                for written in (pairs[:1], pairs, pairs):
                    corpus.write(path, written)
                    self.assertEqual(list(corpus.read(path)), written)
                    with open(path, "rb") as f:
                        contents.append(f.read())
                self.assertEqual(contents[1], contents[2])
            self.assertEqual(sorted(os.listdir(folder)), ["pairs.tsv", "pairs.tsv.gz"])

    def test_narrow_punctuation_becomes_wide_only_where_it_belongs(self):
        for text, expected in (("你好吗?", "你好吗？"), ("好,走吧!", "好，走吧！"), ("在3:30见", "在3:30见"), ("用 C, 好", "用 C, 好")):
            self.assertEqual(data._widened(text, "zh"), expected)
        self.assertEqual(data._widened("Ça va?", "fr"), "Ça va?")

    def test_pivots_join_by_english_and_respect_the_limit(self):
        direct = [pair("Go.", text, f"en {code}") for code, texts in (("ja", ("行け。", "行きなさい。")), ("fr", ("Va !", "Allez !", "Pars !")))
                  for text in texts]
        found = data._pivots(direct, 2)
        self.assertEqual([(p.source_language, p.target_language) for p in found], [("ja", "fr")] * 2)
        self.assertEqual(data._pivots(direct, 0), [])

    def test_phrases_end_as_their_language_ends_them(self):
        for text, language, sign, expected in (("Salut", "fr", "!", "Salut !"), ("Merci", "fr", ".", "Merci."), ("你好", "zh", "!", "你好！"),
                                               ("お元気ですか", "ja", "?", "お元気ですか。"), ("誰", "ja", "?", "誰？"), ("Ja", "de", "!", "Ja!")):
            self.assertEqual(phrases.ended(text, language, sign), expected)
        line = {"signs": ".!", "en": "Hi", "ja": "やあ", "fr": "Salut", "de": "Hallo", "zh": "嗨"}
        self.assertEqual(len(list(phrases.pairs(line))), 30, "ten pairs of languages, three ways to end")

    def test_sentences_of_a_package_are_paired_unless_known_or_measured_with(self):
        rows = [{"ja": "行け。", "en": "Go.", "fr": "Va !"}, {"ja": "来い。", "en": "Come."},
                {"ja": "待って。", "en": "Wait.", "de": "Warte.", "fr": "Attends."}, {"ja": "止まれ！", "fr": "Arrête !"}]
        known = {tatoeba._key(pair("行け", "Go", "ja en"))}
        found = [pair[1:] for pair in tatoeba.pairs(rows * 2, known, {corpus.key("warte")})]
        self.assertEqual(found, [("ja", "fr", "行け。", "Va !"), ("en", "fr", "Go.", "Va !"), ("en", "ja", "Come.", "来い。"),
                                 ("ja", "fr", "止まれ！", "Arrête !")])

    def test_odd_texts_of_goldens_are_not_held_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.jsonl")
            with open(path, "w", encoding="utf8") as f:
                f.write('{"set": "odd", "source": "Hello"}\n{"set": "held-out", "source": "He left.", "reference": "行った。"}\n')
            self.assertEqual(list(corpus.sentences(path)), ["He left.", "行った。"])

    def test_names_are_found_on_both_sides_only_if_they_are_there_once(self):
        found = names.places(pair("Tom met Mary.", "トムはメアリーに会った。"))
        self.assertEqual([place.english for place in found], ["Tom", "Mary"])
        put = names.put(pair("Tom met Mary.", "トムはメアリーに会った。"), found, ["[1]", "[2]"], ["[1]", "[2]"])
        self.assertEqual((put.source, put.target), ("[1] met [2].", "[1]は[2]に会った。"))
        self.assertEqual(names.places(pair("Tom saw Tom.", "トムはトムを見た。")), [])
        self.assertEqual(names.places(pair("Tom left.", "アトムは去った。")), [])

    def test_numbers_are_exchanged_alike(self):
        found = names.numbers(pair("I have 12 cats.", "猫が12匹いる。"))
        self.assertEqual([place.english for place in found], ["12"])
        self.assertEqual(names.numbers(pair("At 9:15.", "9:15に。")), [])

    def test_variations_keep_what_both_sides_share(self):
        chance = random.Random(1)
        for _ in range(300):
            made = augment.copy(pair("Tom paid 30 dollars to Mary.", "Tom a payé 30 dollars à Marie.", "en fr"), chance)
            self.assertTrue(made.source and made.target)
            self.assertEqual("[1]" in made.source, "[1]" in made.target, made)
        self.assertEqual(augment.epoch([pair("a b", "c d")], augment.Settings(0, 0, 0, 0), chance)[0].source, "a b")

    def test_words_change_their_case_only(self):
        chance = random.Random(1)
        for texts, others in ((("Hello", "Hallo"), {("hello", "Hallo"), ("HELLO", "HALLO")}),
                              (("ça va", "gut"), {("Ça va", "Gut"), ("ÇA VA", "GUT")})):
            found = {augment.vary(corpus.Pair(corpus.WORD, "fr", "de", *texts), augment.Settings(), chance)[3:] for _ in range(200)}
            self.assertEqual(found, {texts} | others)


class Distillation(unittest.TestCase):
    def test_likeness_is_chrf(self):
        reference = CHRF(char_order=distill.ORDER, beta=distill.BETA2 ** 0.5)
        for a, b in (("Ça va bien.", "Ça va ?"), ("猫がいる。", "猫がいます。"), ("a", "abcabc"), ("same text", "same text"), ("x", "y")):
            self.assertAlmostEqual(100 * distill._chrf(distill._grams(a), distill._grams(b)), reference.sentence_score(a, [b]).score, 4)

    def test_choice_is_the_candidate_most_like_the_others_and_what_a_person_wrote(self):
        beams = [["I was at home."], ["I was at the house."], ["We were at home."]]
        self.assertEqual(distill.choose(beams, [], 1.0), "I was at home.")
        self.assertEqual(distill.choose(beams, ["The house is where I was."], 5.0), "I was at the house.")
        self.assertIsNone(distill.choose([[], []], ["I left."], 1.0))

    def test_what_a_beam_has_first_counts_most(self):
        one, others = "It is late.", ["He came home.", "He came to his home."]
        self.assertEqual(distill.choose([[one, *others]], [], 1.0), one)
        self.assertIn(distill.choose([[others[0], one, others[1]]], [], 1.0), others)

    def test_faulty_translations_are_not_candidates(self):
        for language, text, sound in (
                ("ja", "iPodとCDを買った。", True), ("ja", "私は naiveだった。", False), ("ja", "ジャックsonは怒らない。", False),
                ("zh", "汤姆 became非常生气。", False), ("fr", "Je suis naïf.", True), ("ja", "", False),
                ("fr", "non, non, non, non, non", False), ("ja", "ああああ", True), ("ja", "ああああああああ", False)):
            self.assertIs(corpus.is_sound(text, language), sound, text)

    def test_what_a_model_wrote_is_never_a_source(self):
        made = corpus.Pair(corpus.DISTILLED, "en", "ja", "Go.", "行け。")
        self.assertEqual(augment.epoch([made] * 3, augment.Settings(0, 0, 0, 0), random.Random(1)), [made] * 3)
        self.assertEqual(augment.epoch([made], augment.Settings(0, 0, 0, 0, distilled=0), random.Random(1)), [])

    def test_distilled_pairs_take_the_place_of_written_ones_of_their_direction(self):
        made = corpus.Pair(corpus.DISTILLED, "en", "ja", "Go.", "行け。")
        written, other = pair("Go.", "行きなさい。"), pair("Go.", "Va !", "en fr")
        found = augment.epoch([made, written, other], augment.Settings(0, 0, 0, 0, written=0), random.Random(1))
        self.assertEqual(found, [made, augment.reverse(written), other, augment.reverse(other)])


class Arithmetic(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.model = M2M100(Shape(60, 32, 2, 2, 2, 48, 40), dropout=0.0).eval()

    def test_decoder_is_given_the_answer_one_late(self):
        examples = batches.Examples(numpy.array([50, 7, EOS, 51, 8, 9, EOS], dtype=numpy.uint16), numpy.array([3, 4]))
        source, target, labels = (t.tolist() for t in examples.tensors(numpy.array([0]), "cpu"))
        self.assertEqual((source, target, labels), ([[50, 7, EOS]], [[EOS, 51, 8, 9]], [[PAD, 8, 9, EOS]]))

    def test_batches_hold_every_example_once_within_the_limit(self):
        lengths = numpy.random.default_rng(1).integers(2, 30, 400)
        examples = batches.Examples(numpy.zeros(lengths.sum(), dtype=numpy.uint16), lengths)
        found = examples.batches(120, numpy.random.default_rng(2))
        self.assertEqual(sorted(i for batch in found for i in batch), list(range(200)))
        for batch in found:
            self.assertLessEqual(len(batch) * max(lengths[2 * batch].max(), lengths[2 * batch + 1].max()), 120)

    def test_loss_is_that_of_cross_entropy(self):
        x, embedding = torch.randn(300, 32, requires_grad=True), torch.randn(60, 32, requires_grad=True)
        labels = torch.randint(60, (300,))
        expected = F.cross_entropy(x @ embedding.T, labels, label_smoothing=0.1)
        want = torch.autograd.grad(expected, (x, embedding))
        for precision, near in ((torch.bfloat16, 2e-2), (torch.float32, 1e-5)):
            with self.subTest(precision):
                loss, likelihood = TiedSoftmax(0.1, precision=precision)(x, embedding, labels)
                got = torch.autograd.grad(loss, (x, embedding))
                torch.testing.assert_close(loss, expected, rtol=near, atol=near)
                torch.testing.assert_close(likelihood, F.cross_entropy(x @ embedding.T, labels), rtol=near, atol=near)
                for a, b in zip(got, want):
                    self.assertGreater(F.cosine_similarity(a.flatten(), b.flatten(), 0).item(), 1 - near / 20)

    def test_sampled_loss_comes_near_on_average(self):
        x, embedding, labels = torch.randn(64, 32) / 4, torch.randn(500, 32) / 2, torch.randint(500, (64,))
        expected, _ = TiedSoftmax(0.0)(x, embedding, labels)
        sampled = torch.stack([TiedSoftmax(0.0, 200)(x, embedding, labels)[0] for _ in range(50)]).mean()
        torch.testing.assert_close(sampled, expected, rtol=5e-3, atol=1e-2)

    def test_padding_changes_nothing(self):
        short, padded = torch.tensor([[50, 7, 8, EOS]]), torch.tensor([[50, 7, 8, EOS, PAD, PAD], [50, 7, 9, 9, 9, EOS]])
        target = torch.tensor([[EOS, 51, 7]])
        with torch.no_grad():
            torch.testing.assert_close(self.model(padded, target.repeat(2, 1))[:1], self.model(short, target))

    def test_a_grown_encoder_does_the_same_and_learns(self):
        grown = M2M100(Shape(60, 32, 2, 3, 2, 48, 40), dropout=0.0)
        grown.load_state_dict(grow.grow(self.model.state_dict(), 3))
        source, target = torch.tensor([[50, 7, 8, EOS]]), torch.tensor([[EOS, 51, 7]])
        found = grown(source, target)
        torch.testing.assert_close(found, self.model(source, target))
        found.square().sum().backward()
        new = grown.model.encoder.layers[2]
        for layer in (new.fc2, new.self_attn.out_proj):
            self.assertEqual(layer.weight.count_nonzero().item(), 0)
            self.assertGreater(layer.weight.grad.abs().max().item(), 0)
        with self.assertRaisesRegex(ValueError, "has 2 layers"):
            grow.grow(self.model.state_dict(), 2)

    def test_a_blend_lies_between(self):
        one, other = ({"x": torch.tensor([a, 4.0]).half()} for a in (1.0, 3.0))
        found = blend.blend([one, other], [0.25, 0.75])
        torch.testing.assert_close(found, {"x": torch.tensor([2.5, 4.0]).half()})
        with self.assertRaisesRegex(ValueError, "different shapes"):
            blend.blend([one, {"x": torch.zeros(3)}], [0.5, 0.5])

    def test_attention_is_that_of_torch(self):
        parts = [torch.randn(2, 4, 7, 16, requires_grad=True) for _ in range(3)]
        mask = torch.ones(2, 1, 1, 7, dtype=torch.bool)
        mask[1, ..., 5:] = False
        for options in ({}, {"is_causal": True}, {"attn_mask": mask}):
            ours, theirs = (torch.autograd.grad(attend(*parts, **options).square().sum(), parts)
                            for attend in (_attend, F.scaled_dot_product_attention))
            for a, b in zip(ours, theirs):
                torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)

    def test_greedy_search_with_a_cache_is_that_without(self):
        sources = [[50, 7, 8, EOS], [50, 9, EOS]]
        for source, found in zip(sources, translate.greedy([self.model], sources, 51, 8)):
            ids = [EOS, 51]
            for _ in range(9):
                with torch.no_grad():
                    scores = self.model.logits(self.model(torch.tensor([source]), torch.tensor([ids])))
                ids.append(int(scores[0, -1].argmax()))
            self.assertEqual(found, ids[2:ids.index(EOS, 2) if EOS in ids[2:] else None])

    def test_models_decide_by_the_mean_of_their_probabilities(self):
        other = M2M100(Shape(60, 32, 2, 1, 1, 16, 24), dropout=0.0).eval()
        source, models = torch.tensor([[50, 7, 8, EOS]]), [self.model, other]
        ids = [EOS, 51]
        with torch.no_grad():
            for _ in range(5):
                ids.append(int(sum(m.logits(m(source, torch.tensor([ids]))[0, -1]).softmax(-1) for m in models).argmax()))
        found = translate.greedy(models, source.tolist(), 51, 4)[0]
        self.assertEqual(found, [i for i in ids[2:] if i not in (EOS, PAD)][:len(found)])
        self.assertEqual(translate.greedy([self.model] * 2, source.tolist(), 51, 8), translate.greedy([self.model], source.tolist(), 51, 8))


class Course(unittest.TestCase):
    def test_learning_rate(self):
        share = optimize.learning_rate
        self.assertEqual(share(0, 100), 0.01)
        self.assertEqual(share(5000, 100), 1.0)
        self.assertEqual([share(step, 100, 1000, 400) for step in (999, 1000, 1100, 1400, 1500)], [1, 1, 0.5, 0, 0])

    def test_a_state_that_was_cut_off_is_not_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(checkpoint.load(folder))
            checkpoint.save(folder, {"step": 1})
            with open(os.path.join(folder, checkpoint.NAME + ".part"), "wb") as f:
                f.write(b"half of a state")
            self.assertEqual(checkpoint.load(folder), {"step": 1})


if __name__ == "__main__":
    unittest.main()
