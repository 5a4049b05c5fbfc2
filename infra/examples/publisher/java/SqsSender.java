import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** Sends batches by AWS's SDK for Java 2 (software.amazon.awssdk:sqs). */
public record SqsSender(SqsClient client, String queueUrl) implements Publisher.Sender {
    @Override
    public List<Publisher.Failure> send(List<Publisher.Message> batch) {
        List<SendMessageBatchRequestEntry> entries = new ArrayList<>();
        for (Publisher.Message message : batch) {
            SendMessageBatchRequestEntry.Builder entry = SendMessageBatchRequestEntry.builder()
                    .id(String.valueOf(entries.size())).messageBody(message.body())
                    .messageGroupId(message.tenantId()); // keeps others' events from waiting behind this tenant's
            if (message.traceparent() != null) {
                entry.messageAttributes(Map.of("traceparent", MessageAttributeValue.builder()
                        .dataType("String").stringValue(message.traceparent()).build()));
            }
            entries.add(entry.build());
        }
        return client.sendMessageBatch(request -> request.queueUrl(queueUrl).entries(entries)).failed().stream()
                .map(f -> new Publisher.Failure(Integer.parseInt(f.id()), f.senderFault(), f.code())).toList();
    }

    @Override
    public String code(RuntimeException e) {
        return e instanceof SqsException s && s.awsErrorDetails() != null ? s.awsErrorDetails().errorCode() : "";
    }
}
