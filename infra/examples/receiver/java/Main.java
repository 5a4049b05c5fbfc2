import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.List;

/** Starts the receiver for the tests, which say what becomes of each delivery: infra/kit/published. */
public final class Main {
    public static void main(String[] args) throws IOException {
        HttpServer server = Receiver.create(List.of(System.getenv("SIGNING_SECRETS").split(",")), Main::process, 0);
        server.start();
        System.out.println("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private static void process(String event, byte[] body) throws IOException {
        HttpURLConnection work = (HttpURLConnection) new URL(System.getenv("WORK")).openConnection();
        work.setRequestMethod("POST");
        work.setRequestProperty("event", event);
        work.setDoOutput(true);
        work.getOutputStream().write(body);
        if (work.getResponseCode() != 200) {
            throw new IOException("the work failed: " + work.getResponseCode());
        }
    }
}
