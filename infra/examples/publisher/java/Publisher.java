import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Publishes events to Herald's EventsQueue, in batches. SqsSender.java sends them by AWS's SDK. */
public final class Publisher {
    private static final int BATCH = 10; // messages that SQS takes in a request
    private static final int BYTES = 256 * 1024; // that EventsQueue takes in a message; a request is kept below as well
    private static final int TRIES = 5;

    private static final Pattern UNFIT = // characters that SQS refuses in a body
            Pattern.compile("[^\\t\\n\\r\\x{20}-\\x{D7FF}\\x{E000}-\\x{FFFD}\\x{10000}-\\x{10FFFF}]");
    private static final Pattern NAME = Pattern.compile("[!-~]{1,128}"); // the groups that it takes
    private static final Pattern ITS_OWN = Pattern.compile(
            "TooLong|InvalidMessageContents|InvalidParameterValue|MissingParameter|Serialization");

    /** An event that was encoded once and has an id. The traceparent is null without one that SQS takes. */
    public record Message(String body, String tenantId, String traceparent) {
        public Message {
            traceparent = isName(traceparent) ? traceparent : null;
        }
    }

    /** What SendMessageBatch says of an entry that it did not take; the id is the entry's number in its batch. */
    public record Failure(int id, boolean senderFault, String code) {}

    /** A message that SQS did not take. */
    public record NotSent(Message message, String code) {}

    /** Sends a batch. */
    public interface Sender {
        List<Failure> send(List<Message> batch);

        /** The code by which SQS refused a request, "" for another exception of send. */
        String code(RuntimeException e);
    }

    private final Sender sender;
    private final long firstWaitMillis;

    public Publisher(Sender sender, long firstWaitMillis) {
        this.sender = sender;
        this.firstWaitMillis = firstWaitMillis;
    }

    /**
     * Sends messages, and returns those that SQS did not take. A message that SQS would refuse is not sent, and all
     * others are. If this throws, it is not known what was sent: send all again, the ids make it safe.
     */
    public List<NotSent> publish(List<Message> messages) throws InterruptedException {
        List<NotSent> notSent = new ArrayList<>();
        List<Message> good = new ArrayList<>();
        for (Message message : messages) {
            String code = fault(message);
            if (code.isEmpty()) {
                good.add(message);
            } else {
                notSent.add(new NotSent(message, code));
            }
        }
        for (List<Message> batch : batches(good)) {
            send(batch, notSent);
        }
        return notSent;
    }

    /** The code by which SQS would refuse a message, "" for a good one. */
    private static String fault(Message message) {
        if (message.body() == null || message.body().isEmpty() || UNFIT.matcher(message.body()).find()) {
            return "InvalidMessageContents"; // half a surrogate pair, or a control character
        }
        if (!isName(message.tenantId())) {
            return "InvalidParameterValue";
        }
        return size(message) > BYTES ? "MessageTooLong" : "";
    }

    private static boolean isName(String text) {
        return text != null && NAME.matcher(text).matches();
    }

    /** Sends a batch until SQS has taken all that it takes, and adds the others to notSent. */
    private void send(List<Message> batch, List<NotSent> notSent) throws InterruptedException {
        List<Message> left = batch;
        for (int attempt = 0; !left.isEmpty(); attempt++) {
            if (attempt > 0) {
                Thread.sleep(firstWaitMillis << (attempt - 1));
            }
            List<Failure> failures;
            try {
                failures = sender.send(left);
            } catch (RuntimeException e) {
                sendEach(left, e, notSent);
                return;
            }
            List<Message> again = new ArrayList<>();
            for (Failure failure : failures) { // a request can succeed in part
                Message message = left.get(failure.id());
                if (failure.senderFault() || attempt == TRIES - 1) {
                    notSent.add(new NotSent(message, failure.code()));
                } else {
                    again.add(message);
                }
            }
            left = again;
        }
    }

    /** Sends the messages of a refused request one by one: one of them made SQS refuse it. */
    private void sendEach(List<Message> refused, RuntimeException e, List<NotSent> notSent)
            throws InterruptedException {
        String code = sender.code(e);
        if (code == null || !ITS_OWN.matcher(code).find()) {
            throw e;
        }
        if (refused.size() == 1) {
            notSent.add(new NotSent(refused.get(0), code));
            return;
        }
        for (Message message : refused) {
            send(List.of(message), notSent);
        }
    }

    /** Groups messages as SQS takes them: by number, and by the bytes of all. */
    private static List<List<Message>> batches(List<Message> messages) {
        List<List<Message>> all = new ArrayList<>();
        int total = 0;
        for (Message message : messages) {
            int n = size(message);
            if (all.isEmpty() || total + n > BYTES || all.get(all.size() - 1).size() == BATCH) {
                all.add(new ArrayList<>());
                total = 0;
            }
            all.get(all.size() - 1).add(message);
            total += n;
        }
        return all;
    }

    /** The number of bytes that SQS counts: of the body, and of an attribute's name, type and value. */
    private static int size(Message message) {
        String trace = message.traceparent() == null ? "" : "traceparent" + "String" + message.traceparent();
        return message.body().getBytes(StandardCharsets.UTF_8).length + trace.length();
    }
}
