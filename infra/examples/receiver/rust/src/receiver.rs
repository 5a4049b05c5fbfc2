use base64::{engine::general_purpose::STANDARD, Engine};
use hmac::{Hmac, Mac};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Bytes, Incoming};
use hyper::{server::conn::http1, service::service_fn, HeaderMap, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const LIMIT: usize = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(10); // with slow senders

pub type Process = fn(event: &str, body: &[u8]) -> Result<(), Box<dyn std::error::Error>>;

/// Processes each genuine delivery once and answers 2xx only when that is done. A rotation needs two secrets.
pub struct Receiver {
    secrets: Vec<String>,
    process: Process,
    done: Mutex<HashMap<String, bool>>, // by wh-id, false at work; in production: a store all instances share
}

impl Receiver {
    pub async fn serve(
        secrets: Vec<String>,
        process: Process,
        listener: tokio::net::TcpListener,
    ) -> std::io::Result<()> {
        let receiver = Arc::new(Receiver { secrets, process, done: Mutex::default() });
        loop {
            let (stream, _) = listener.accept().await?;
            let receiver = receiver.clone();
            let answer = service_fn(move |request| receiver.clone().answer(request));
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            tokio::spawn(http.serve_connection(TokioIo::new(stream), answer));
        }
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> hyper::Result<Response<Empty<Bytes>>> {
        let (head, body) = request.into_parts();
        let status = match tokio::time::timeout(PATIENCE, read(body)).await {
            // A thread of its own: the work goes on when its sender gives up.
            Ok(Some(body)) => tokio::task::spawn_blocking(move || self.take(&head.headers, &body)).await.unwrap_or(500),
            _ => 413,
        };
        let mut response = Response::new(Empty::new());
        *response.status_mut() = status.try_into().expect("a status of ours");
        if status == 409 {
            response.headers_mut().insert("retry-after", 30.into());
        }
        Ok(response)
    }

    fn take(&self, headers: &HeaderMap, body: &[u8]) -> u16 {
        if !self.genuine(headers, body) {
            return 400;
        }
        let Some(event) = event(body).filter(|event| event == header(headers, "wh-webhook-event")) else {
            return 400;
        };
        let id = header(headers, "wh-id");
        match self.done.lock().unwrap().entry(id.to_string()) {
            std::collections::hash_map::Entry::Occupied(before) if *before.get() => return 200,
            std::collections::hash_map::Entry::Occupied(_) => return 409, // at work, it may still fail
            std::collections::hash_map::Entry::Vacant(new) => new.insert(false),
        };
        let work = || (self.process)(&event, body).inspect_err(|e| eprintln!("{e}"));
        if let Ok(Ok(())) = catch_unwind(AssertUnwindSafe(work)) {
            self.done.lock().unwrap().insert(id.to_string(), true);
            return 200;
        }
        self.done.lock().unwrap().remove(id); // so that the retry is processed
        500
    }

    fn genuine(&self, headers: &HeaderMap, body: &[u8]) -> bool {
        let (id, stamp) = (header(headers, "wh-id"), header(headers, "wh-timestamp"));
        let Some(Ok(signature)) = header(headers, "wh-signature").strip_prefix("v1,").map(|s| STANDARD.decode(s))
        else {
            return false;
        };
        let signed = self.secrets.iter().filter(|secret| !secret.is_empty()).any(|secret| {
            let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap(); // whsec_ included
            mac.update(format!("{id}.{stamp}.").as_bytes());
            mac.update(body);
            mac.verify_slice(&signature).is_ok() // in constant time
        });
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let fresh = stamp.parse::<u64>().is_ok_and(|sent| now.abs_diff(sent) <= 300);
        signed && fresh
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
}

/// The type of a body, which is signed, unlike the header that repeats it.
fn event(body: &[u8]) -> Option<String> {
    let fields: HashMap<String, &RawValue> = serde_json::from_slice(body).ok()?;
    serde_json::from_str(fields.get("type")?.get()).ok()
}

/// The raw bytes, never re-serialised; none where they are too many or break off.
async fn read(mut body: Incoming) -> Option<Vec<u8>> {
    if body.size_hint().lower() > LIMIT as u64 {
        return None;
    }
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.ok()?.into_data() {
            all.extend_from_slice(&data);
        }
        if all.len() > LIMIT {
            return None;
        }
    }
    Some(all)
}
