//! Verifies deliveries with the library for Rust, by its usual constructor.

use std::collections::HashMap;

use base64::prelude::*;
use http::{HeaderMap, HeaderName, HeaderValue};

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    secret: String,
    headers: HashMap<String, String>,
    body: String,
}

fn main() {
    let cases: Vec<Case> = serde_json::from_reader(std::io::stdin()).expect("cases");
    for case in cases {
        let body = BASE64_STANDARD.decode(&case.body).expect("Base64");
        let mut headers = HeaderMap::new();
        for (name, value) in &case.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            headers.insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        let standard = standardwebhooks::Webhook::new(&case.secret)
            .map_err(|fault| fault.to_string())
            .and_then(|webhook| webhook.verify(&body, &headers).map_err(|fault| fault.to_string()));
        let said = standard.map_or_else(|fault| format!("refused: {fault}"), |()| "verified".to_string());
        println!("rust standardwebhooks\t{}\t{said}", case.name);
    }
}
