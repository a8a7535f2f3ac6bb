"""Runs the client against the service's own handlers, which translate into capitals: see app/client/others_test.go."""

import faulthandler
import os
import unittest

from dragoman import (
    Client, ConnectionBrokenError, Dictionary, Error, InvalidAnswerError, JobCancelledError, Record, Term,
)

URL = os.environ["DRAGOMAN_URL"]
LANGUAGES = {"from_lang": "en", "to_lang": "fr"}


def at(path, **options):
    return Client(f"{URL}/{path}", **options)


def plain(results):
    return [(r.id, r.text, r.to_lang) for r in results]


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.client = Client(URL)

    def fails(self, code, call, *args, **options):
        with self.assertRaises(Error) as caught:
            call(*args, **options)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def test_texts(self):
        self.assertEqual(plain(self.client.translate("one", **LANGUAGES)), [("0", "ONE", "fr")])
        several = self.client.translate(["é😀", Record("b", "")], from_lang="auto", to_lang=["fr", "ja"], detail=True, alternatives=2)
        self.assertEqual(plain(several), [("0", "É😀", "fr"), ("b", "", "fr"), ("0", "É😀", "ja"), ("b", "", "ja")])
        self.assertEqual(several[0].detail["fromLang"], "en")
        self.assertEqual(several[0].flags, ("loop",))
        self.assertEqual(len(several[0].alternatives), 2)
        options = {"no_repeat_ngram_size": 2, "beams": 1}
        self.assertEqual(self.client.translate("one", glossary=[Term("a", "b")], options=options, **LANGUAGES)[0].text, "ONE")

    def test_streams(self):
        got = self.client.stream(["one", "two"], from_lang="en", to_lang=["fr", "ja"])
        self.assertEqual(sorted(plain(got)), [("0", "ONE", "fr"), ("0", "ONE", "ja"), ("1", "TWO", "fr"), ("1", "TWO", "ja")])
        stream = self.client.stream(["one", "two"], **LANGUAGES)
        self.assertEqual(next(stream).text, "TWO", "the first that is there")
        stream.close()
        self.fails("internal", list, self.client.stream(["fail"], **LANGUAGES))

    def test_errors(self):
        err = self.fails("unknown_language", self.client.translate, "one", from_lang="en", to_lang="xx")
        self.assertEqual((err.status, err.field, err.temporary), (400, "payload.toLang", False))
        self.assertIn(err.request_id, str(err))
        self.fails("unknown_field", self.client.translate, "one", nonsense=1, **LANGUAGES)
        with self.assertRaisesRegex(ValueError, "half of a surrogate pair"):
            self.client.translate("\ud800", **LANGUAGES)
        with self.assertRaises(ValueError):
            self.client.translate("one", request_id="a b", **LANGUAGES)
        for wrong in "ftp://localhost", "localhost:9527", "http://localhost?x", "":
            with self.assertRaises(ValueError):
                Client(wrong)
        with self.assertRaises(ValueError):
            Client(URL, key="a\nb")
        with self.assertRaisesRegex(Error, "has moved to"):
            at("moved").translate("one", **LANGUAGES)
        alone, other = at("failed").translate(["one", "two"], **LANGUAGES)
        self.assertEqual((alone.text, alone.error.code, alone.error.message, other.text, other.error), ("", "unfinished", "no end", "TWO", None))
        for path in "wrong", "html":
            with self.assertRaises(InvalidAnswerError):
                at(path).translate("one", **LANGUAGES)
        with self.assertRaisesRegex(InvalidAnswerError, "raise max_response_bytes"):
            Client(URL, max_response_bytes=10).translate("one", **LANGUAGES)
        with self.assertRaises(ConnectionBrokenError):
            Client("http://127.0.0.1:1", retries=0).translate("one", **LANGUAGES)

    def test_tries(self):
        for path in "busy", "cut", "half", "lost":
            self.assertEqual(at(path).translate("one", **LANGUAGES)[0].text, "ONE", path)
        for path in "busy", "cut":
            self.assertEqual([r.text for r in at(path).stream("one", **LANGUAGES)], ["ONE"], path)
        self.assertTrue(self.fails("busy", at("busy", retries=0).translate, "one", **LANGUAGES).temporary)
        self.assertEqual(self.fails("busy", at("never").translate, "one", **LANGUAGES).retry_after, 3600)
        with self.assertRaises(ConnectionBrokenError):
            at("half", retries=0).translate("one", **LANGUAGES)
        for path in "cut", "half":
            with self.assertRaises(ConnectionBrokenError):
                list(at(path, retries=0).stream(["one", "two"], **LANGUAGES))

    def test_time(self):
        with self.assertRaises(TimeoutError):
            self.client.translate("wait", timeout=0.2, **LANGUAGES)
        with self.assertRaises(TimeoutError):
            self.client.translate("one", timeout=0, **LANGUAGES)
        with self.assertRaises(TimeoutError):
            at("down").wait_ready(timeout=0.4)
        self.client.wait_ready(timeout=600)

    def test_jobs(self):
        job = at("lost").submit(["one", "two"], from_lang="en", to_lang=["fr", "ja"])
        want = [("0", "ONE", "fr"), ("1", "TWO", "fr"), ("0", "ONE", "ja"), ("1", "TWO", "ja")]
        self.assertEqual(plain(job.wait()), want)
        listed = self.client.jobs()
        self.assertEqual([status.id for status in listed], [job.id], "the try whose answer was lost has made no other job")
        self.assertIsNotNone(listed[0].created.tzinfo)
        self.assertEqual(len(self.client.job(job.id).wait()), 4)
        self.assertEqual([status.state for status in at("cut").job(job.id).events()], ["done"])
        self.assertEqual(len(at("deaf").job(job.id).wait()), 4, "a proxy lets no events through")
        at("lost").job(job.id).cancel()
        self.fails("unknown_job", job.status)
        self.fails("unknown_job", job.wait)
        failed = self.client.submit("endless", **LANGUAGES)
        self.fails("unfinished", failed.wait)
        failed.cancel()
        endless = self.client.submit("wait", idempotency_key="python", **LANGUAGES)
        with self.assertRaises(TimeoutError):
            endless.wait(timeout=0.3)
        self.assertEqual(self.client.submit("wait", idempotency_key="python", **LANGUAGES).id, endless.id)
        endless.cancel()
        with self.assertRaises(JobCancelledError):
            endless.wait()
        endless.cancel()

    def test_documents(self):
        job = self.client.submit_document(b"one\n", "folder/a.txt", **LANGUAGES)
        self.assertEqual(job.document(), b"ONE\n")
        self.assertEqual(job.status().document["kind"], "txt")
        with self.assertRaises(InvalidAnswerError):
            job.wait()
        job.cancel()
        table = self.client.submit_document(b"a,b\none,two\n", "a.csv", columns=["b"], header="keep", **LANGUAGES)
        self.assertEqual(table.document(), b"a,b\none,TWO\n")
        table.cancel()
        with self.assertRaises(ValueError):
            self.client.submit_document(b"a,b\n", "a.csv", columns=["a,b"], **LANGUAGES)
        self.fails("unsupported_document", self.client.submit_document, b"x", "a.exe", **LANGUAGES)

    def test_memories(self):
        made = self.client.put_memory("ours", b"cat\tchat\n", media="text/tab-separated-values", **LANGUAGES)
        self.assertEqual((made.id, made.entries, made.languages[0]["to"]), ("ours", 1, "fr"))
        self.assertEqual(self.client.add_to_memory("ours", [("dog", "chien")], **LANGUAGES).entries, 2)
        tmx = self.client.export_memory("ours")
        self.assertIn(b"<seg>chien</seg>", tmx)
        self.assertEqual(self.client.put_memory("ours", tmx, keep=True).entries, 2)
        self.assertEqual(len(self.client.memories()), 1)
        at("lost").delete_memory("ours")
        self.fails("unknown_memory", self.client.memory, "ours")

    def test_glossaries(self):
        made = self.client.create_glossary("Ours", [("steamer", "vapeur"), Term("Acme")], **LANGUAGES)
        self.assertEqual(made.dictionaries, (Dictionary("en", "fr", 2),))
        self.assertEqual(self.client.glossary_terms(made.id, **LANGUAGES), [Term("steamer", "vapeur"), Term("Acme", "Acme")])
        self.client.set_terms(made.id, [("a", "b")], from_lang="en", to_lang="ja")
        self.assertEqual(len(self.client.glossary(made.id).dictionaries), 2)
        self.assertEqual(len(self.client.glossaries()), 1)
        at("lost").delete_glossary(made.id)
        self.fails("unknown_glossary", self.client.glossary, made.id)
        with self.assertRaises(ConnectionBrokenError):
            at("cut").create_glossary("Ours", [("a", "b")], **LANGUAGES)

    def test_service(self):
        self.assertEqual(self.client.info()["name"], "dragoman")
        self.assertIn("fr", next(language for language in self.client.languages() if language.code == "en").targets)
        self.assertEqual(self.fails("", at("key", key="wrong").translate, "one", **LANGUAGES).status, 401)


faulthandler.dump_traceback_later(600, exit=True)  # says where a test hangs

if __name__ == "__main__":
    unittest.main()
