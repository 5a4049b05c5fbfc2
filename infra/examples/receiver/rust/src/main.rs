//! Starts the receiver for the tests, which say what becomes of each delivery: infra/kit/published.

mod receiver;

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let secrets = std::env::var("SIGNING_SECRETS").expect("SIGNING_SECRETS");
    let secrets = secrets.split(',').map(String::from).collect();
    tokio::runtime::Runtime::new()?.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("http://{}", listener.local_addr()?);
        receiver::Receiver::serve(secrets, process, listener).await
    })
}

fn process(event: &str, body: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    let work = std::env::var("WORK")?;
    let host = work.trim_start_matches("http://");
    let mut connection = std::net::TcpStream::connect(host)?;
    let length = body.len();
    write!(connection, "POST / HTTP/1.0\r\nHost: {host}\r\nevent: {event}\r\nContent-Length: {length}\r\n\r\n")?;
    connection.write_all(body)?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    match answer.split(' ').nth(1) {
        Some("200") => Ok(()),
        _ => Err(format!("the work failed: {answer}").into()),
    }
}
