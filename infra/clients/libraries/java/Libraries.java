import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import java.io.InputStreamReader;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Verifies deliveries with the libraries for Java, each by its usual constructor. */
public final class Libraries {
  record Delivery(String name, String secret, Map<String, String> headers, String body) {}

  interface Verification {
    void run() throws Exception;
  }

  public static void main(String[] args) {
    var cases = new InputStreamReader(System.in, StandardCharsets.UTF_8);
    List<Delivery> deliveries = new Gson().fromJson(cases, new TypeToken<List<Delivery>>() {}.getType());
    for (var d : deliveries) {
      var body = new String(Base64.getDecoder().decode(d.body()), StandardCharsets.UTF_8);
      var many = d.headers().entrySet().stream()
          .collect(Collectors.toMap(Map.Entry::getKey, header -> List.of(header.getValue())));
      report("standardwebhooks", d, () -> new com.standardwebhooks.Webhook(d.secret()).verify(body, new java.util.HashMap<>(many)));
      report("svix", d, () -> new com.svix.Webhook(d.secret()).verify(body, HttpHeaders.of(many, (name, value) -> true)));
    }
  }

  private static void report(String library, Delivery d, Verification verification) {
    var verdict = "verified";
    try {
      verification.run();
    } catch (Exception fault) { // each library has exceptions of its own
      verdict = "refused: " + fault.getMessage();
    }
    System.out.println("java " + library + "\t" + d.name() + "\t" + verdict);
  }
}
