import com.deepl.api.*;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

/** Runs DeepL's official Java client against a server: java DeepL.java BASE_URL VERSION [toy]. See checks.py for the row that it writes. */
public class DeepL {
  static String base;
  static boolean toy;
  static int checks;

  interface Step {
    void run() throws Exception;
  }

  static void check(String what, boolean ok, Object got) {
    if (!ok) throw new AssertionError("FAILED: " + what + ": " + got);
    checks++;
  }

  static void translated(String what, String source, String got) {
    check(what, toy ? got.equals(source.toUpperCase()) : !got.isBlank() && !got.equals(source), got);
  }

  static void fails(String what, Class<?> error, Step step) {
    try {
      step.run();
    } catch (Exception e) {
      check(what, error.isInstance(e), e);
      return;
    }
    check(what, false, "no error");
  }

  static void texts(DeepLClient client) throws Exception {
    TextResult result = client.translateText("Good morning.", null, "fr");
    translated("text", "Good morning.", result.getText());
    check("detected", result.getDetectedSourceLanguage().equals("en"), result.getDetectedSourceLanguage());
    check("billed", result.getBilledCharacters() == 13, result.getBilledCharacters());
    List<TextResult> results = client.translateText(List.of("Good morning.", "Good night."), "en", "ja");
    check("texts", results.size() == 2, results);
    translated("second text", "Good night.", results.get(1).getText());
    String html = client.translateText("<p>Good <b>morning</b>.</p>", null, "fr", new TextTranslationOptions().setTagHandling("html")).getText();
    check("HTML", html.matches("<p>.*<b>.*</b>.*</p>"), html);
    TextTranslationOptions options = new TextTranslationOptions().setContext("A greeting.").setFormality(Formality.PreferMore).setPreserveFormatting(true)
        .setSentenceSplittingMode(SentenceSplittingMode.NoNewlines).setTagHandling("xml").setOutlineDetection(false).setSplittingTags(List.of("x", "y"))
        .setNonSplittingTags(List.of("z")).setIgnoreTags(List.of("code")).setModelType("latency_optimized");
    result = client.translateText("Good morning.", "en", "fr", options);
    translated("options", "Good morning.", result.getText());
    check("type of the model", "latency_optimized".equals(result.getModelTypeUsed()), result.getModelTypeUsed());
    fails("language", DeepLException.class, () -> client.translateText("x", null, "xx"));
    fails("formality", DeepLException.class, () -> client.translateText("x", null, "fr", new TextTranslationOptions().setFormality(Formality.More)));
    if (toy) fails("wrong key", AuthorizationException.class, () -> client("wrong").translateText("x", null, "fr"));
  }

  static void others(DeepLClient client) throws Exception {
    check("source languages", client.getSourceLanguages().stream().anyMatch(l -> l.getCode().equals("en")), client.getSourceLanguages());
    check("target languages", client.getTargetLanguages().stream().anyMatch(l -> l.getCode().equals("en-US")), client.getTargetLanguages());
    check("usage", !client.getUsage().anyLimitReached(), client.getUsage());
    check("style rules", client.getAllStyleRules().isEmpty(), "");
    check("translation memories", client.listTranslationMemories().isEmpty(), "");
  }

  static void documents(DeepLClient client) throws Exception {
    byte[] letter = "Good morning.\n\nThe house is old.\n".getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    DocumentStatus status = client.translateDocument(new ByteArrayInputStream(letter), "letter.txt", out, "en", "fr");
    check("document", status.ok() && status.done() && status.getBilledCharacters() > 0, status.getErrorMessage());
    String[] lines = out.toString(StandardCharsets.UTF_8).split("\n", -1);
    check("document, lines", lines.length == 4 && lines[1].isEmpty(), Arrays.toString(lines));
    translated("document, text", "The house is old.", lines[2]);
    fails("document of another kind", DocumentTranslationException.class,
        () -> client.translateDocument(new ByteArrayInputStream(letter), "letter.xyz", new ByteArrayOutputStream(), "en", "fr"));
  }

  static void glossaries(DeepLClient client) throws Exception {
    GlossaryEntries entries = new GlossaryEntries(Map.of("artist", "maître", "prize, first", "le \"prix\""));
    check("languages of glossaries", client.getGlossaryLanguages().stream().anyMatch(p -> p.getSourceLanguage().equals("en") && p.getTargetLanguage().equals("fr")), "");
    GlossaryInfo made = client.createGlossary("Ours", "en", "fr", entries);
    check("glossary", made.isReady() && made.getEntryCount() == 2 && client.getGlossary(made.getGlossaryId()).getName().equals("Ours"), made);
    check("glossaries", client.listGlossaries().stream().anyMatch(g -> g.getGlossaryId().equals(made.getGlossaryId())), "");
    check("entries", client.getGlossaryEntries(made).equals(entries), client.getGlossaryEntries(made));
    String text = client.translateText("The artist.", "en", "fr", new TextTranslationOptions().setGlossary(made)).getText();
    check("text with a glossary", toy ? text.equals("THE maître.") : !text.isBlank(), text);
    client.deleteGlossary(made);
    fails("deleted glossary", GlossaryNotFoundException.class, () -> client.getGlossary(made.getGlossaryId()));
    MultilingualGlossaryInfo several = client.createMultilingualGlossary("Several", List.of(
        new MultilingualGlossaryDictionaryEntries("en", "fr", entries), new MultilingualGlossaryDictionaryEntries("en", "de", new GlossaryEntries(Map.of("artist", "Maler")))));
    String id = several.getGlossaryId();
    check("dictionaries", several.getDictionaries().size() == 2 && client.listMultilingualGlossaries().stream().anyMatch(g -> g.getGlossaryId().equals(id)), several);
    check("entries of a dictionary", client.getMultilingualGlossaryDictionaryEntries(id, "en", "de").getEntries().equals(new GlossaryEntries(Map.of("artist", "Maler"))), "");
    client.replaceMultilingualGlossaryDictionary(id, new MultilingualGlossaryDictionaryEntries("en", "de", new GlossaryEntries(Map.of("cat", "Katze"))));
    check("replaced dictionary", client.getMultilingualGlossaryDictionaryEntries(id, "en", "de").getEntries().equals(new GlossaryEntries(Map.of("cat", "Katze"))), "");
    client.deleteMultilingualGlossaryDictionary(id, "en", "de");
    client.deleteMultilingualGlossary(id);
    fails("deleted multilingual glossary", GlossaryNotFoundException.class, () -> client.getMultilingualGlossary(id));
  }

  static DeepLClient client(String key) {
    DeepLClientOptions options = new DeepLClientOptions();
    options.setServerUrl(base).setMaxRetries(0);
    return new DeepLClient(key, options);
  }

  public static void main(String[] args) throws Exception {
    base = args[0];
    toy = List.of(args).contains("toy");
    String result = "failed";
    try {
      texts(client("some"));
      others(client("some"));
      documents(client("some"));
      glossaries(client("some"));
      result = "passed";
    } finally {
      String results = System.getenv("RESULTS");
      String[] row = {"DeepL", "`deepl-java` (Maven)", args[1], String.valueOf(checks), result};
      System.out.println(String.join(" ", row));
      if (results != null) Files.writeString(Path.of(results), String.join("\t", row) + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
  }
}
