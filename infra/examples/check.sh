#!/bin/sh
# Says why a delivery did not verify. Give it one request, as your code got it:
#   SECRET=whsec_… ID=msg_… TIMESTAMP=1764000000 SIGNATURE='v1,…' LENGTH=66 sh check.sh body.bin
# ID, TIMESTAMP and SIGNATURE are three headers of one kind: wh- or webhook-. LENGTH is content-length, if you have it.
# Nothing leaves your machine.
set -euf
sender=Herald
body=${1:-body.bin} fit="" other=$(mktemp)
trap 'rm -f "$other"' EXIT
test='{"type":"herald.test","data":{}}'
nothing="nothing fits: the secret is another one, or the body was parsed and written again"

# signs prints the signature of the body in a file, under a key in hexadecimal.
signs() {
  { printf '%s.%s.' "$ID" "$TIMESTAMP" && cat "$2"; } |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -binary | openssl base64 -A
}
hex() { od -An -v -tx1 | tr -d ' \n'; }
bytes() { wc -c <"$1" | tr -d ' '; }
begins() { [ "$(head -c "$2" "$body" | hex)" = "$1" ]; }
tell() { printf '%s\n' "$1"; }

# decode prints the key that Base64 stands for, in hexadecimal: after whsec_ or without it, with its padding or without.
decode() {
  encoded=${1#whsec_}
  while [ "${encoded%=}" != "$encoded" ]; do encoded=${encoded%=}; done
  case $encoded in *[!A-Za-z0-9+/]*) return ;; esac
  case $((${#encoded} % 4)) in
  1) return ;;
  2) encoded=$encoded== ;;
  3) encoded=$encoded= ;;
  esac
  printf %s "$encoded" | openssl base64 -d -A 2>/dev/null | hex
}

# fits says whether one of the signatures is that of a body under one of some keys.
fits() {
  for key in $1; do
    want=v1,$(signs "$key" "$2")
    for one in $SIGNATURE; do [ "$one" = "$want" ] && return 0; done
  done
  return 1
}

# try says what fits under both readings of the secret.
try() {
  fit=yes
  if fits "$text" "$1"; then tell "verifies$2 under the whole text of the secret, as wh-signature does"
  elif fits "$decoded" "$1"; then tell "verifies$2 under the decoded secret, as webhook-signature does"
  elif fits "$bare" "$1"; then tell "verifies$2 under the text without whsec_, which is no signature of $sender's"
  else fit=""
  fi
}

# changed tries the body after a command has undone a change.
changed() {
  what=$1 && shift
  [ -z "$fit" ] && "$@" <"$body" >"$other" 2>/dev/null && [ -s "$other" ] || return 0
  cmp -s "$body" "$other" || try "$other" ", $what,"
}
unbroken() { printf %s "$(tr -d '\r')"; }
unspaced() { sed 's/": /":/g; s/, "/,"/g'; }
unencoded() { tr -d '\r\n' | openssl base64 -d -A; }
broken() { cat && echo; }

[ -r "$body" ] || { echo "there is no file $body" && exit 2; }
for name in SECRET ID TIMESTAMP SIGNATURE; do
  eval "given=\${$name-}"
  trimmed=$(printf %s "$given" | tr -d '\r\n' | sed "s/^[[:space:]\"']*//; s/[[:space:]\"']*\$//")
  [ "$trimmed" = "$given" ] || tell "$name has white space or quotes around it"
  [ -n "$trimmed" ] || { echo "$name is empty: your code did not get it, or not under this name" && exit 2; }
  [ "$name" != SECRET ] || whole=$given
  eval "$name=\$trimmed"
done
text=$(printf %s "$SECRET" | hex) bare=$(printf %s "${SECRET#whsec_}" | hex) decoded=$(decode "$SECRET")
[ "$whole" = "$SECRET" ] || text="$text $(printf %s "$whole" | hex)" # quotes may be a part of an imported secret
try "$body" ""
changed "without the line break at its end" unbroken
changed "with a line break at its end" broken
changed "decoded from Base64" unencoded
changed "without the spaces of a serializer" unspaced
changed "without the byte order mark at its beginning" tail -c +4
changed "uncompressed" gzip -dc
changed "converted from Latin-1 to UTF-8" iconv -f ISO-8859-1 -t UTF-8
changed "converted from UTF-8 to Latin-1" iconv -f UTF-8 -t ISO-8859-1

# The body of a test without a type is known, so it tells another secret from another body.
printf %s "$test" >"$other"
if [ -n "$fit" ]; then :
elif [ "${ID#test_}" = "$ID" ]; then tell "$nothing"
elif fits "$text" "$other" || fits "$decoded" "$other"; then
  tell "this test had the body $test: yours was changed on its way"
elif cmp -s "$body" "$other"; then tell "the body is that of a test: the secret is another one, or ID and TIMESTAMP are"
else tell "$nothing"
fi

[ "${#SECRET}" = 50 ] || tell "the secret has ${#SECRET} characters; $sender's have 50, imported ones others"
case $ID in
msg_* | test_*) ;;
*) tell "ID does not begin with msg_ or test_: it is another header" ;;
esac
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
[ "${LENGTH:-$(bytes "$body")}" = "$(bytes "$body")" ] ||
  tell "the body has $(bytes "$body") bytes, and $LENGTH were sent: it was changed on its way"
if ! begins 7b 1; then tell "the body does not begin with {: it is encoded, compressed, or no body"
elif ! begins 7b2274797065223a22 9; then tell 'the body does not begin with {"type":": it was parsed and written again'
fi
