<?php
// Processes each genuine delivery once and returns 2xx only when that is done. The folder remembers
// what is done, in a file for each delivery; in production: a store all instances share, kept for days.
// A rotation needs two secrets.
function receive(array $secrets, callable $process, string $folder): int
{
    ignore_user_abort(true); // the work goes on when its sender gives up
    $length = ($_SERVER['CONTENT_LENGTH'] ?? '') ?: '0';
    if (!preg_match('/^\d{1,7}$/D', $length) || (int) $length > 1 << 20) {
        return 413;
    }
    $body = stream_get_contents(fopen('php://input', 'r'), (int) $length); // raw, never re-serialised
    $id = $_SERVER['HTTP_WH_ID'] ?? '';
    $stamp = $_SERVER['HTTP_WH_TIMESTAMP'] ?? '';
    $genuine = false;
    foreach (array_filter($secrets, fn($secret) => $secret !== '') as $secret) {
        $hmac = hash_hmac('sha256', "$id.$stamp.$body", $secret, true); // the secret's literal text, whsec_ included
        $genuine = hash_equals('v1,' . base64_encode($hmac), $_SERVER['HTTP_WH_SIGNATURE'] ?? '') || $genuine;
    }
    if (!$genuine || !preg_match('/^\d{1,11}$/D', $stamp) || abs(time() - (int) $stamp) > 300) {
        return 400;
    }
    $event = json_decode($body, true, 10_000)['type'] ?? ''; // signed, unlike the header that repeats it
    if ($event !== ($_SERVER['HTTP_WH_WEBHOOK_EVENT'] ?? null)) {
        return 400;
    }
    $state = fopen($folder . '/' . hash('sha256', $id), 'c+');
    if (!flock($state, LOCK_EX | LOCK_NB)) {
        header('Retry-After: 30');
        return 409; // at work, it may still fail: the lock ends with its process, however that ends
    }
    if (fread($state, 4) === 'done') {
        return 200;
    }
    try {
        $process($event, $body);
    } catch (Throwable $e) {
        error_log($e);
        return 500;
    }
    fwrite($state, 'done');
    return 200;
}
