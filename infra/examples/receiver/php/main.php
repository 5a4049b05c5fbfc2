<?php
// Answers one request for the tests, which say what becomes of each delivery: infra/kit/published.
require __DIR__ . '/receiver.php';

$process = function (string $event, string $body): void {
    $http = ['method' => 'POST', 'header' => "event: $event", 'content' => $body, 'timeout' => 600];
    if (@file_get_contents(getenv('WORK'), false, stream_context_create(['http' => $http])) === false) {
        throw new Exception('the work failed');
    }
};
http_response_code(receive(explode(',', getenv('SIGNING_SECRETS')), $process, getenv('FOLDER')));
