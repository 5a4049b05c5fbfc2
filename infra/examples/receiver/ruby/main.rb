# Starts the receiver for the tests, which say what becomes of each delivery: infra/kit/published.
require "net/http"
require_relative "receiver"

server = Receiver.new(ENV.fetch("SIGNING_SECRETS").split(",", -1), 0) do |event, body|
  answer = Net::HTTP.post(URI(ENV.fetch("WORK")), body, "event" => event)
  raise "the work failed: #{answer.code}" unless answer.code == "200"
end
puts "http://127.0.0.1:#{server.listeners.first.addr[1]}"
$stdout.flush
server.start
