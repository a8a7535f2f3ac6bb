import com.adobe.epubcheck.api.EpubCheck;
import java.io.*;
import java.nio.charset.*;
import java.nio.file.*;
import java.text.MessageFormat;
import java.util.*;
import java.util.regex.*;

/** Reads files like owners.py, by Java's own classes and by EPUBCheck. */
class Owners {
  public static void main(String[] arguments) throws IOException {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8");
    System.setOut(System.err); // where EPUBCheck reports progress
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String path = in.readLine(); path != null; path = in.readLine()) {
      StringJoiner texts = new StringJoiner(",", "{\"path\":" + json(path) + ",\"texts\":[", "]}");
      try {
        for (String text : path.endsWith(".epub") ? faults(path) : values(path)) texts.add(json(text));
        out.println(texts);
      } catch (Exception | StackOverflowError e) {
        out.println("{\"path\":" + json(path) + ",\"error\":" + json(e.toString()) + "}");
      }
    }
  }

  /** Returns the codes of a book's errors. */
  static List<String> faults(String path) {
    StringWriter report = new StringWriter();
    new EpubCheck(new File(path), new PrintWriter(report)).doValidate();
    List<String> codes = new ArrayList<>();
    Matcher m = Pattern.compile("(?m)^(ERROR|FATAL)\\(([A-Z0-9-]+)\\)").matcher(report.toString());
    while (m.find()) codes.add(m.group(2));
    Collections.sort(codes);
    return codes;
  }

  /** Returns the values of properties, those with arguments as MessageFormat writes them, unless the file has apostrophes alone. */
  static List<String> values(String path) throws IOException {
    byte[] content = Files.readAllBytes(Path.of(path));
    Properties properties = new Properties();
    properties.load(new StringReader(decode(content)));
    List<String> values = new ArrayList<>();
    boolean messages = true;
    for (Object value : properties.values()) messages &= !value.toString().matches("(?s).*\\{\\d.*") || !value.toString().replace("''", "").contains("'");
    Object[] names = new Object[10];
    for (int i = 0; i < names.length; i++) names[i] = "<" + i + ">";
    for (String key : new TreeSet<>(properties.stringPropertyNames())) {
      String value = properties.getProperty(key);
      values.add(key);
      if (messages && value.matches("(?s).*\\{\\d.*")) {
        try {
          value = new MessageFormat(value).format(names);
        } catch (IllegalArgumentException e) {
          value = "not a message: " + value;
        }
      }
      values.add(value);
    }
    return values;
  }

  static String decode(byte[] content) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(java.nio.ByteBuffer.wrap(content)).toString();
    } catch (CharacterCodingException e) {
      return new String(content, StandardCharsets.ISO_8859_1);
    }
  }

  static String json(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c < ' ' || c == '"' || c == '\\' || c > '~') out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    return out.append('"').toString();
  }
}
