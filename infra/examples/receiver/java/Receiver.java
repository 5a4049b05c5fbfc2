import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Processes each genuine delivery once and answers 2xx only when that is done. A rotation needs two secrets. */
public final class Receiver {
    public interface Process {
        void run(String event, byte[] body) throws Exception;
    }

    private static final int LIMIT = 1 << 20;
    private static final Pattern TYPE = Pattern.compile("\\s*\\{\\s*\"type\"\\s*:\\s*\"([\\w.]+)\"\\s*,");

    // By wh-id, false at work; in production: a store all instances share, kept for days.
    private final ConcurrentMap<String, Boolean> done = new ConcurrentHashMap<>();
    private final List<String> secrets;
    private final Process process;

    private Receiver(List<String> secrets, Process process) {
        this.secrets = secrets;
        this.process = process;
    }

    public static HttpServer create(List<String> secrets, Process process, int port) throws IOException {
        System.setProperty("sun.net.httpserver.maxReqTime", "10"); // seconds, for slow senders
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 128);
        server.setExecutor(Executors.newCachedThreadPool());
        Receiver receiver = new Receiver(secrets, process);
        server.createContext("/", exchange -> {
            try (exchange) {
                int status = receiver.receive(exchange);
                if (status == 409) {
                    exchange.getResponseHeaders().set("Retry-After", "30");
                }
                exchange.sendResponseHeaders(status, -1);
            }
        });
        return server;
    }

    private int receive(HttpExchange exchange) throws IOException {
        String length = exchange.getRequestHeaders().getFirst("Content-Length");
        if (length != null && Long.parseLong(length) > LIMIT) {
            return 413;
        }
        byte[] body = exchange.getRequestBody().readNBytes(LIMIT + 1); // the raw bytes, never re-serialised
        if (body.length > LIMIT) {
            return 413;
        }
        String id = exchange.getRequestHeaders().getFirst("wh-id");
        if (!genuine(exchange, id, body)) {
            return 400;
        }
        // All bodies begin with their type, which is signed, unlike the header that repeats it.
        Matcher type = TYPE.matcher(new String(body, StandardCharsets.UTF_8));
        if (!type.lookingAt() || !type.group(1).equals(exchange.getRequestHeaders().getFirst("wh-webhook-event"))) {
            return 400;
        }
        Boolean before = done.putIfAbsent(id, false);
        if (before != null) {
            return before ? 200 : 409; // 409: at work, it may still fail
        }
        try {
            process.run(type.group(1), body);
            done.put(id, true);
            return 200;
        } catch (Exception e) {
            e.printStackTrace();
            return 500;
        } finally {
            done.remove(id, false); // it failed: the retry is processed
        }
    }

    private boolean genuine(HttpExchange exchange, String id, byte[] body) {
        String stamp = exchange.getRequestHeaders().getFirst("wh-timestamp");
        String signature = exchange.getRequestHeaders().getFirst("wh-signature");
        if (id == null || stamp == null || signature == null || !stamp.matches("[0-9]{1,11}")) {
            return false;
        }
        boolean fresh = Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(stamp)) <= 300;
        byte[] start = (id + "." + stamp + ".").getBytes(StandardCharsets.UTF_8);
        byte[] got = signature.getBytes(StandardCharsets.UTF_8);
        return fresh && secrets.stream().anyMatch(
                secret -> !secret.isEmpty() && MessageDigest.isEqual(sign(secret, start, body), got));
    }

    private static byte[] sign(String secret, byte[] start, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256")); // whsec_ included
            mac.update(start);
            return ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // every Java has HmacSHA256
        }
    }
}
