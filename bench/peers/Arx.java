/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs ARX for bench/peers/arx.py: load, optimal search by "loss", write, as often as asked, in one
 * process. The first time is cold, the later ones are warm. Prints one JSON line.
 *
 * usage: Arx DATA DELIMITER OUT K SENSITIVE|- L SUPPRESSION REPEATS COLUMN=HIERARCHY ...
 */
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.Map;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXLattice.ARXNode;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;
import org.deidentifier.arx.metric.Metric.AggregateFunction;

public class Arx {
  private static String table, out, sensitive;
  private static char delimiter;
  private static int k, l;
  private static double suppression;
  private static final Map<String, String> hierarchies = new LinkedHashMap<>();

  private static Data load() throws Exception {
    Data data = Data.create(table, StandardCharsets.UTF_8, delimiter);
    for (Map.Entry<String, String> h : hierarchies.entrySet())
      data.getDefinition()
          .setAttributeType(h.getKey(), Hierarchy.create(h.getValue(), StandardCharsets.UTF_8, ';'));
    if (sensitive != null)
      data.getDefinition().setAttributeType(sensitive, AttributeType.SENSITIVE_ATTRIBUTE);
    data.getHandle();
    return data;
  }

  private static ARXConfiguration configuration() {
    ARXConfiguration asked = ARXConfiguration.create();
    asked.addPrivacyModel(new KAnonymity(k));
    if (sensitive != null) asked.addPrivacyModel(new DistinctLDiversity(sensitive, l));
    asked.setSuppressionLimit(suppression);
    asked.setQualityModel(Metric.createLossMetric(AggregateFunction.GEOMETRIC_MEAN));
    return asked;
  }

  /* {"sex": 0, "age": 3, ...} */
  private static String node(ARXNode best) {
    StringBuilder text = new StringBuilder();
    for (String name : best.getQuasiIdentifyingAttributes())
      text.append(text.length() == 0 ? "{" : ", ")
          .append('"').append(name).append("\": ").append(best.getGeneralization(name));
    return text.append('}').toString();
  }

  private static long suppressed(DataHandle release) {
    long rows = 0;
    for (int row = 0; row < release.getNumRows(); row++) if (release.isOutlier(row)) rows++;
    return rows;
  }

  private static long peakMemory() throws Exception {
    for (String line : Files.readAllLines(Paths.get("/proc/self/status")))
      if (line.startsWith("VmHWM")) return 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
    return 0;
  }

  public static void main(String[] asked) throws Exception {
    table = asked[0];
    delimiter = asked[1].charAt(0);
    out = asked[2];
    k = Integer.parseInt(asked[3]);
    sensitive = asked[4].equals("-") ? null : asked[4];
    l = Integer.parseInt(asked[5]);
    suppression = Double.parseDouble(asked[6]);
    int repeats = Integer.parseInt(asked[7]);
    for (int i = 8; i < asked.length; i++) {
      int cut = asked[i].indexOf('=');
      hierarchies.put(asked[i].substring(0, cut), asked[i].substring(cut + 1));
    }
    double[] least = {1e9, 1e9, 1e9};
    String found = "";
    for (int repeat = 0; repeat < repeats; repeat++) {
      long start = System.nanoTime();
      Data data = load();
      long loaded = System.nanoTime();
      ARXResult result = new ARXAnonymizer().anonymize(data, configuration());
      long searched = System.nanoTime();
      if (!result.isResultAvailable()) throw new IllegalStateException("ARX found no solution");
      DataHandle release = result.getOutput(false);
      release.save(out, delimiter);
      long written = System.nanoTime();
      least[0] = Math.min(least[0], (loaded - start) / 1e9);
      least[1] = Math.min(least[1], (searched - loaded) / 1e9);
      least[2] = Math.min(least[2], (written - searched) / 1e9);
      ARXNode best = result.getGlobalOptimum();
      found = "\"node\": " + node(best) + ", \"loss\": " + best.getHighestScore()
          + ", \"suppressed\": " + suppressed(release);
    }
    System.out.println("{\"load\": " + least[0] + ", \"search\": " + least[1] + ", \"write\": " + least[2]
        + ", " + found + ", \"memory\": " + peakMemory() + "}");
  }
}
