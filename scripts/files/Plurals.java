import com.ibm.icu.text.*;
import com.ibm.icu.util.ULocale;
import java.io.*;
import java.nio.file.*;
import java.util.*;

/** Prints what ICU4J finds wrong with the plurals in a folder, see plurals.go. */
class Plurals {
  public static void main(String[] arguments) throws IOException {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8");
    for (File folder : new File(arguments[0]).listFiles()) {
      Properties messages = new Properties();
      messages.load(Files.newBufferedReader(folder.toPath().resolve("icu.properties")));
      ULocale locale = new ULocale(folder.getName());
      PluralRules rules = PluralRules.forLocale(locale);
      for (int n : new int[] {0, 1, 2, 5, 11, 21, 101}) {
        String written = NumberFormat.getInstance(locale).format(n);
        String files = n == 1 && rules.select(1).equals("one") ? "ONE FILE" : written + " FILES";
        String cats = n == 0 ? "NO CATS" : written + (rules.select(n).equals("one") ? " CAT" : " CATS");
        for (String[] c : new String[][] {{"files", files}, {"cats", cats}}) {
          String got = new MessageFormat(messages.getProperty(c[0]), locale).format(Map.of("n", n));
          if (!got.equals(c[1])) out.println(folder.getName() + " " + n + " ICU4J \"" + got + "\" instead of \"" + c[1] + "\"");
        }
      }
    }
  }
}
