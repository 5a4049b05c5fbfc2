import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** Publishes the messages of standard input to an SQS that its other lines play; infra/examples tests it. */
public final class Main {
    private static final BufferedReader LINES =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    public static void main(String[] args) throws InterruptedException {
        List<Publisher.Message> messages = new ArrayList<>();
        for (String[] row : rows()) {
            String body = new String(Base64.getDecoder().decode(row[2]), StandardCharsets.UTF_8);
            messages.add(new Publisher.Message(body, row[0], row[1].isEmpty() ? null : row[1]));
        }
        for (Publisher.NotSent one : new Publisher(Main::played, 0).publish(messages)) {
            System.out.println("not sent\t" + one.message().tenantId() + "\t" + one.code());
        }
    }

    /** Prints each entry, and reads the failures. */
    private static List<Publisher.Failure> played(List<Publisher.Message> batch) {
        for (int n = 0; n < batch.size(); n++) {
            Publisher.Message m = batch.get(n);
            String trace = m.traceparent() == null ? "" : m.traceparent();
            String body = Base64.getEncoder().encodeToString(m.body().getBytes(StandardCharsets.UTF_8));
            System.out.println(n + "\t" + m.tenantId() + "\t" + trace + "\t" + body);
        }
        System.out.println();
        List<Publisher.Failure> failures = new ArrayList<>();
        for (String[] row : rows()) {
            failures.add(new Publisher.Failure(Integer.parseInt(row[0]), row[1].equals("sender"), row[2]));
        }
        return failures;
    }

    /** Reads the fields of lines until an empty one. */
    private static List<String[]> rows() {
        try {
            List<String[]> all = new ArrayList<>();
            for (String line = LINES.readLine(); line != null && !line.isEmpty(); line = LINES.readLine()) {
                all.add(line.split("\t", -1));
            }
            return all;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
