require "json"
require "openssl"
require "timeout"
require "webrick"

# A server that processes each genuine delivery once and answers 2xx only when that is done. A rotation needs two
# secrets.
class Receiver < WEBrick::HTTPServer
  LIMIT = 1 << 20

  def initialize(secrets, port, &process)
    super(Port: port, BindAddress: "127.0.0.1", RequestTimeout: 10, AccessLog: []) # behind whatever ends TLS
    @secrets, @process, @lock = secrets, process, Mutex.new
    @done = {} # by wh-id, false at work; in production: a store all instances share, kept for days
    mount_proc("/") do |request, response|
      response.status = take(request)
      response["Retry-After"] = "30" if response.status == 409
      response.keep_alive = false if response.status.between?(408, 413) # its body may be unread
    end
  end

  def take(request)
    length = request["content-length"]
    return 411 if length.nil? || request["transfer-encoding"] # what ends TLS in front of this sends a length
    return 413 unless length.match?(/\A\d{1,7}\z/) && length.to_i <= LIMIT

    body = Timeout.timeout(10) { request.body.to_s } # raw, never re-serialised
    return 400 unless genuine?(request, body)

    event = JSON.parse(body, max_nesting: false)["type"] # signed, unlike the header that repeats it
    return 400 unless event == request["wh-webhook-event"]

    id = request["wh-id"]
    before = @lock.synchronize { @done.fetch(id) { @done[id] = false; nil } }
    return before ? 200 : 409 unless before.nil? # 409: at work, it may still fail

    work(id, event, body)
  rescue Timeout::Error
    408
  end

  def genuine?(request, body)
    id, stamp, signature = %w[wh-id wh-timestamp wh-signature].map { |name| request[name].to_s }
    signed = @secrets.reject(&:empty?).any? do |secret|
      digest = OpenSSL::HMAC.digest("SHA256", secret, "#{id}.#{stamp}.".b + body) # whsec_ included
      OpenSSL.secure_compare("v1,#{[digest].pack("m0")}", signature)
    end
    return false unless signed

    stamp.match?(/\A\d{1,11}\z/) && (Time.now.to_i - stamp.to_i).abs <= 300
  end

  def work(id, event, body)
    @process.call(event, body)
    @lock.synchronize { @done[id] = true }
    200
  rescue StandardError => e
    logger.error(e)
    500
  ensure
    @lock.synchronize { @done.delete(id) unless @done[id] } # it failed: the retry is processed
  end
end
