import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
            ByteBuffer body = ByteBuffer.wrap(Base64.getDecoder().decode(row[2])).order(ByteOrder.LITTLE_ENDIAN);
            String text = body.asCharBuffer().toString(); // which keeps half a surrogate pair
            messages.add(new Publisher.Message(text, row[0], row[1].isEmpty() ? null : row[1]));
        }
        for (Publisher.NotSent one : new Publisher(new Played(), 0).publish(messages)) {
            System.out.println("not sent\t" + one.message().tenantId() + "\t" + one.code());
        }
    }

    /** Prints each entry, and reads the failures, or the refusal of all. */
    private static final class Played implements Publisher.Sender {
        @Override
        public List<Publisher.Failure> send(List<Publisher.Message> batch) {
            for (int n = 0; n < batch.size(); n++) {
                Publisher.Message m = batch.get(n);
                String trace = m.traceparent() == null ? "" : m.traceparent();
                String body = Base64.getEncoder().encodeToString(m.body().getBytes(StandardCharsets.UTF_8));
                System.out.println(n + "\t" + m.tenantId() + "\t" + trace + "\t" + body);
            }
            System.out.println();
            List<Publisher.Failure> failures = new ArrayList<>();
            for (String[] row : rows()) {
                if (row[0].equals("refused")) {
                    throw new IllegalStateException(row[1]);
                }
                failures.add(new Publisher.Failure(Integer.parseInt(row[0]), row[1].equals("sender"), row[2]));
            }
            return failures;
        }

        @Override
        public String code(RuntimeException e) {
            return e.getMessage();
        }
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
