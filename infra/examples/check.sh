#!/bin/sh
# Says why a delivery did not verify. Give it one request, as your code got it:
#   SECRET=whsec_… ID=msg_… TIMESTAMP=1764000000 SIGNATURE='v1,…' sh check.sh body.bin
# ID, TIMESTAMP and SIGNATURE are three headers of one kind: wh- or webhook-. Nothing leaves your machine.
set -eu
body=$1 cause=""

# signs prints the signature of the body in a file, under a key in hexadecimal.
signs() {
  { printf '%s.%s.' "$ID" "$TIMESTAMP" && cat "$2"; } |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -binary | openssl base64 -A
}
hex() { od -An -v -tx1 | tr -d ' \n'; }
tell() { cause=yes && echo "$1"; }

# fits says whether one of the signatures is that of a body under a key.
fits() {
  [ -n "$1" ] || return 1
  want=v1,$(signs "$1" "$2")
  for one in $SIGNATURE; do [ "$one" = "$want" ] && return 0; done
  return 1
}

# try says what fits under both readings of the secret.
try() {
  if fits "$text" "$1"; then tell "verifies$2 under the whole text of the secret, as wh-signature does"
  elif fits "$decoded" "$1"; then tell "verifies$2 under the decoded secret, as webhook-signature does"
  elif fits "$bare" "$1"; then tell "verifies$2 under the text without whsec_, which is no signature of Herald's"
  fi
}

secret=$(printf %s "$SECRET" | sed 's/^[[:space:]"]*//; s/[[:space:]"]*$//')
[ "$secret" = "$SECRET" ] || tell "SECRET has white space or quotes around it"
text=$(printf %s "$secret" | hex) bare=$(printf %s "${secret#whsec_}" | hex)
decoded=$(printf %s "${secret#whsec_}" | openssl base64 -d -A 2>/dev/null | hex)
try "$body" ""
if [ -z "$(tail -c 1 "$body" | tr -d '\n')" ]; then
  printf %s "$(cat "$body")" >"$body.changed" && try "$body.changed" ", without the line break at its end,"
else
  { cat "$body" && echo; } >"$body.changed" && try "$body.changed" ", with a line break at its end,"
fi
first=$(openssl base64 -d -A -in "$body" 2>/dev/null | head -c 1)
if [ "$first" = "{" ]; then
  openssl base64 -d -A -in "$body" >"$body.changed" && try "$body.changed" ", decoded from Base64,"
fi
rm -f "$body.changed"

[ "${#secret}" = 50 ] || tell "the secret has ${#secret} characters; Herald's have 50, imported ones others"
for one in $SIGNATURE; do
  case $one in
  v1,*) [ "${#one}" = 47 ] || tell "$one has ${#one} characters; v1, and the Base64 of a signature have 47" ;;
  v1a,*) ;;
  *) tell "$one does not begin with v1, or v1a," ;;
  esac
done
case $TIMESTAMP in
*[!0-9]*) tell "the timestamp is no number" ;;
?????????????*) tell "the timestamp is in milliseconds; the header has seconds" ;;
*)
  age=$(($(date +%s) - TIMESTAMP))
  [ "${age#-}" -le 300 ] || tell "by this clock the request is $age s old; receivers refuse more than 300"
  ;;
esac
[ "$(head -c 1 "$body")" = "{" ] || tell "the body does not begin with {: it is encoded, compressed, or no body"
case $ID in
test_*)
  test='{"type":"herald.test","data":{}}'
  [ "$(cat "$body")" = "$test" ] || tell "a test has the body $test and no other: yours was changed on its way"
  ;;
esac
[ -n "$cause" ] || echo "nothing fits: the secret is another one, or the body was parsed and written again"
