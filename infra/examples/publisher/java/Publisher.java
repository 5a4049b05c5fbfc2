import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Publishes events to Herald's EventsQueue, in batches. SqsSender.java sends them by AWS's SDK. */
public final class Publisher {
    private static final int BATCH = 10, BYTES = 256 * 1024, TRIES = 5; // SQS takes ten messages in a request

    /** An event that was encoded once and has an id. The traceparent may be null. */
    public record Message(String body, String tenantId, String traceparent) {}

    /** What SendMessageBatch says of an entry that it did not take; the id is the entry's number in its batch. */
    public record Failure(int id, boolean senderFault, String code) {}

    /** A message that SQS did not take. */
    public record NotSent(Message message, String code) {}

    /** Sends a batch. */
    public interface Sender {
        List<Failure> send(List<Message> batch);
    }

    private final Sender sender;
    private final long firstWaitMillis;

    public Publisher(Sender sender, long firstWaitMillis) {
        this.sender = sender;
        this.firstWaitMillis = firstWaitMillis;
    }

    /**
     * Sends messages, and returns those that SQS did not take. If this throws, it is not known what was sent: send all
     * again, the ids make it safe.
     */
    public List<NotSent> publish(List<Message> messages) throws InterruptedException {
        List<NotSent> notSent = new ArrayList<>();
        for (List<Message> batch : batches(messages)) {
            List<Message> left = batch;
            for (int attempt = 0; !left.isEmpty(); attempt++) {
                if (attempt > 0) {
                    Thread.sleep(firstWaitMillis << (attempt - 1));
                }
                List<Message> again = new ArrayList<>();
                for (Failure failure : sender.send(left)) { // a request can succeed in part
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
        return notSent;
    }

    /** Groups messages as SQS takes them: by number, and by the bytes of all. */
    private static List<List<Message>> batches(List<Message> messages) {
        List<List<Message>> all = new ArrayList<>();
        int size = 0;
        for (Message message : messages) {
            int n = message.body().getBytes(StandardCharsets.UTF_8).length + 256; // the attribute included
            if (all.isEmpty() || size + n > BYTES || all.get(all.size() - 1).size() == BATCH) {
                all.add(new ArrayList<>());
                size = 0;
            }
            all.get(all.size() - 1).add(message);
            size += n;
        }
        return all;
    }
}
