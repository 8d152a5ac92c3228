"""Stands in for the push services of Apple (APNs), Google (FCM v1, OAuth 2.0) and a browser (RFC 8030, 8291, 8292), and checks what they
are sent by their documents.

Usage: pushes.py FOLDER. Writes to FOLDER what a sender needs: authority.pem, apns.p8, rotated.p8, fcm.json, vapid.pem, vapid.pub; and
web.json, the subscriptions of browsers, by word. Where a file `answer-apns`, `answer-fcm` or `answer-token` is made there, its
JSON (status, text) is what the doctor is answered; without a status it is answered nothing. Prints `ready APNS-PORT FCM-PORT WEB-PORT`, then a line of JSON for each request:
service, id, token, status, reason, wrong (what the documents don't allow, a list), connection, and what was sent.

How a request is answered says the token of its device: a word and a name, such as `gone-1` (for APNs in hexadecimal). The word is
the name of a reaction below, which most often holds for the first request of a token only; the next one is taken.
"""

import base64, datetime, json, os, re, socket, ssl, sys, threading, time, urllib.parse, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import h2.config, h2.connection, h2.events
import http_ece
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

TEAM, KEY, TOPIC, PROJECT, EMAIL = "TEAM123456", "KEY1234567", "app.quartet.test", "quartet-test", "sender@quartet-test.example"
folder = sys.argv[1]
lock = threading.Lock()
seen = {}  # how often each token was asked for
provider_tokens = []  # those that APNs was shown, in order
grants = {}  # access token -> whether it is still good


def say(**line):
    with lock:
        print(json.dumps(line), flush=True)


def write(name, content):
    with open(os.path.join(folder, name + ".new"), "wb") as file:
        file.write(content)
    os.rename(os.path.join(folder, name + ".new"), os.path.join(folder, name))


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def certificate():
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=2))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True).sign(key, hashes.SHA256()))
    write("authority.pem", made.public_bytes(serialization.Encoding.PEM))
    write("tls.key", pem(key))


certificate()
apns_keys = {"apns": ec.generate_private_key(ec.SECP256R1()), "rotated": ec.generate_private_key(ec.SECP256R1())}
for name, key in apns_keys.items():
    write(name + ".p8", pem(key))
fcm_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def unbase64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def jwt(text):
    """The header, the claims, what is signed and the signature of a JWT."""
    header, claims, signature = text.split(".")
    return json.loads(unbase64(header)), json.loads(unbase64(claims)), f"{header}.{claims}".encode(), unbase64(signature)


def context(*protocols):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(os.path.join(folder, "authority.pem"), os.path.join(folder, "tls.key"))
    tls.set_alpn_protocols(list(protocols))
    return tls


def turn(token):
    with lock:
        seen[token] = seen.get(token, 0) + 1
        return seen[token]


def told(service):
    """How the test wants the doctor to be answered: the status and the text."""
    try:
        with open(os.path.join(folder, "answer-" + service)) as file:
            answer = json.load(file)
        return answer.get("status"), answer["text"]
    except FileNotFoundError:
        return None


# APNs


def provider_token_problem(headers):
    """The reason for which APNs would refuse the provider's token."""
    kind, _, text = headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not text:
        return "MissingProviderToken"
    try:
        header, claims, signed, signature = jwt(text)
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
        # From when the test makes a file of this name, only the other key is known.
        known = apns_keys["rotated" if os.path.exists(os.path.join(folder, "rotate")) else "apns"].public_key()
        if header["alg"] != "ES256" or header["kid"] != KEY or claims["iss"] != TEAM or len(signature) != 64:
            return "InvalidProviderToken"
        if not verifies(known, utils.encode_dss_signature(r, s), signed):
            return "InvalidProviderToken"
        if not isinstance(claims["iat"], int) or not -3600 < claims["iat"] - time.time() < 60:
            return "ExpiredProviderToken"
    except (ValueError, KeyError):
        return "InvalidProviderToken"
    with lock:
        if text not in provider_tokens:
            provider_tokens.append(text)
    return None


def verifies(key, signature, signed):
    try:
        key.verify(signature, signed, ec.ECDSA(hashes.SHA256()))
        return True
    except InvalidSignature:
        return False


def wrong_in_apns(headers, body):
    wrong = []
    def demand(holds, what):
        if not holds:
            wrong.append(what)
    demand(headers[":method"] == "POST", "method")
    demand(headers.get("apns-topic") == TOPIC, "apns-topic")
    demand(headers.get("apns-push-type") == "alert", "apns-push-type")
    demand(headers.get("apns-priority") in ("10", "5"), "apns-priority")
    demand(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", headers.get("apns-id", "")), "apns-id")
    demand(len(headers.get("apns-collapse-id", "")) <= 64, "apns-collapse-id")
    demand(len(body) <= 4096, "size")
    try:
        payload = json.loads(body)
        aps, quartet = payload["aps"], payload["quartet"]
        expiration = headers.get("apns-expiration", "")
        demand(set(payload) == {"aps", "quartet"} and quartet["account"] and quartet["push"], "quartet")
        if quartet.get("isTest"):
            # Kept for no device that is off, and the badge stays as it is.
            demand(expiration == "0", "apns-expiration")
            demand("badge" not in aps and not {"unread", "notification"} & set(quartet), "test")
        else:
            demand(re.fullmatch(r"\d{10}", expiration) and int(expiration) > time.time(), "apns-expiration")
            demand(isinstance(aps["badge"], int) and quartet["unread"] == aps["badge"], "badge")
        demand(aps["alert"]["title"] and aps["alert"]["body"], "alert")
        demand(aps["mutable-content"] == 1, "mutable-content")
        level = aps["interruption-level"]
        demand(level in ("passive", "active", "time-sensitive", "critical"), "interruption-level")
        if level == "critical":
            demand(aps["sound"]["critical"] == 1 and 0 <= aps["sound"]["volume"] <= 1, "sound")
    except (ValueError, KeyError, TypeError) as error:
        wrong.append(f"payload: {error!r}")
    return wrong


def apns_answer(word, count):
    """The status, the reason and more, or None to go away without an answer."""
    now = int(time.time() * 1000)
    first = count == 1
    if word == "gone":
        return 410, "Unregistered", {"timestamp": now}, {}
    if word == "back" and first:
        return 410, "Unregistered", {"timestamp": now - 3_600_000}, {}
    if word == "bad" and first:
        return 400, "BadDeviceToken", {}, {}
    if word == "large":
        return 413, "PayloadTooLarge", {}, {}
    if word == "many" and first:
        return 429, "TooManyRequests", {}, {"retry-after": "1"}
    if word == "stale" and first:
        return 403, "ExpiredProviderToken", {}, {}
    if word == "fails" and first:
        return 500, "InternalServerError", {}, {}
    if word == "shutdown" and first:
        return 503, "Shutdown", {}, {}
    if word == "topic" and first:
        return 400, "TopicDisallowed", {}, {}
    if word == "leaves" and first:
        return None
    return 200, None, {}, {}


def serve_apns(listener):
    number = 0
    while True:
        plain, _ = listener.accept()
        number += 1
        threading.Thread(target=apns_connection, args=(plain, number), daemon=True).start()


def apns_connection(plain, number):
    try:
        with context("h2").wrap_socket(plain, server_side=True) as stream:
            if stream.selected_alpn_protocol() == "h2":
                apns_streams(stream, number)
    except OSError:
        pass


def apns_streams(stream, number):
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
    connection.initiate_connection()
    stream.sendall(connection.data_to_send())
    requests = {}
    while data := stream.recv(65536):
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                requests[event.stream_id] = (dict(event.headers), bytearray())
            elif isinstance(event, h2.events.DataReceived):
                requests[event.stream_id][1].extend(event.data)
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                headers, body = requests.pop(event.stream_id)
                if not apns_request(connection, event.stream_id, headers, bytes(body), number):
                    connection.close_connection(last_stream_id=max(event.stream_id - 2, 0))
                    stream.sendall(connection.data_to_send())
                    return
        stream.sendall(connection.data_to_send())


def apns_nobody(connection, stream, headers, reason):
    """What is sent to no device, only to hear whether the sender is known."""
    status = 403 if reason else 400
    reason = reason or ("BadDeviceToken" if headers.get("apns-topic") == TOPIC else "TopicDisallowed")
    status, text = told("apns") or (status, json.dumps({"reason": reason}))
    say(service="apns doctor", status=status)
    if status is not None:
        connection.send_headers(stream, [(":status", str(status))])
        connection.send_data(stream, text.encode(), end_stream=True)
    return True


def apns_request(connection, stream, headers, body, number):
    path = re.fullmatch(r"/3/device/([0-9a-fA-F]+)", headers[":path"])
    token = bytes.fromhex(path[1]).decode() if path else ""
    reason = provider_token_problem(headers)
    if path and set(path[1]) == {"0"}:
        return apns_nobody(connection, stream, headers, reason)
    wrong = wrong_in_apns(headers, body)
    more, extra = {}, {}
    if not path:
        status, reason = 404, "BadPath"
    elif reason:
        status = 403
    elif wrong:
        status, reason = 400, "Bad" + wrong[0]
    else:
        answer = apns_answer(token.split("-")[0], turn(token))
        if answer is None:
            status = 0
        else:
            status, reason, more, extra = answer
    say(service="apns", id=headers.get("apns-id"), token=token, status=status, reason=reason, wrong=wrong, connection=number,
        providerTokens=len(provider_tokens), headers={k: v for k, v in headers.items() if k != "authorization"},
        sent=json.loads(body) if not wrong else None)
    if status == 0:
        return False
    connection.send_headers(stream, [(":status", str(status)), ("apns-id", headers.get("apns-id", "")), *extra.items()],
                            end_stream=reason is None)
    if reason is not None:
        connection.send_data(stream, json.dumps({"reason": reason, **more}).encode(), end_stream=True)
    return True


# FCM


def wrong_in_fcm(path, message):
    wrong = []
    def demand(holds, what):
        if not holds:
            wrong.append(what)
    demand(path == f"/v1/projects/{PROJECT}/messages:send", "path")
    try:
        android = message["android"]
        demand(message["notification"]["title"] and message["notification"]["body"], "notification")
        demand(all(isinstance(value, str) for value in message["data"].values()), "data")
        demand(not any(re.match(r"google|gcm|from$|notification\.|message_type", key) for key in message["data"]), "data")
        demand(android["priority"] in ("HIGH", "NORMAL"), "priority")
        demand(re.fullmatch(r"\d+s", android["ttl"]) and int(android["ttl"][:-1]) <= 2_419_200, "ttl")
        is_test = message["data"].get("isTest") == "true"
        demand((android["ttl"] == "0s") == is_test and ("unread" in message["data"]) != is_test, "test")
        demand("collapse_key" not in android, "collapse_key")
        demand(set(message) <= {"token", "notification", "data", "android"}, "fields")
        demand(set(android["notification"]) <= {"tag", "channel_id", "notification_priority"}, "fields")
    except (KeyError, TypeError) as error:
        wrong.append(f"message: {error!r}")
    return wrong


def fcm_error(status, canonical, code=None, message="", field=None):
    details = []
    if code:
        details.append({"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code})
    if field:
        details.append({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": field}]})
    return status, {"error": {"code": status, "status": canonical, "message": message, "details": details}}


def fcm_answer(word, count):
    first = count == 1
    if word == "gone":
        return *fcm_error(404, "NOT_FOUND", "UNREGISTERED"), {}
    if word == "bad" and first:
        return *fcm_error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", "Invalid token", "message.token"), {}
    if word == "large":
        return *fcm_error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", "Message too big"), {}
    if word == "other" and first:
        return *fcm_error(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"), {}
    if word == "many" and first:
        return *fcm_error(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"), {"Retry-After": "1"}
    if word == "stale" and first:
        return *fcm_error(401, "UNAUTHENTICATED"), {}
    if word == "apple" and first:
        return *fcm_error(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"), {}
    if word == "fails" and first:
        return *fcm_error(500, "INTERNAL", "INTERNAL"), {}
    if word == "shutdown" and first:
        return *fcm_error(503, "UNAVAILABLE", "UNAVAILABLE"), {"Retry-After": "1"}
    if word == "proxy" and first:
        return 404, "<html>not here</html>", {}
    if word == "leaves" and first:
        return None
    return 200, {"name": f"projects/{PROJECT}/messages/{uuid.uuid4()}"}, {}


class FCM(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        (self.grant if self.path == "/token" else self.send)(body)

    def answer(self, status, document, headers={}):
        content = document.encode() if isinstance(document, str) else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "text/html" if isinstance(document, str) else "application/json")
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def grant(self, body):
        """RFC 7523, section 2.1."""
        form = urllib.parse.parse_qs(body.decode())
        wrong = []
        try:
            if form["grant_type"] != ["urn:ietf:params:oauth:grant-type:jwt-bearer"]:
                wrong.append("grant_type")
            header, claims, signed, signature = jwt(form["assertion"][0])
            fcm_key.public_key().verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
            if header["alg"] != "RS256" or header.get("kid") != "key-1":
                wrong.append("header")
            if claims["iss"] != EMAIL or claims["aud"] != f"https://localhost:{self.server.server_port}/token":
                wrong.append("iss or aud")
            if claims["scope"] != "https://www.googleapis.com/auth/firebase.messaging":
                wrong.append("scope")
            if not 0 < claims["exp"] - claims["iat"] <= 3600 or abs(claims["iat"] - time.time()) > 60:
                wrong.append("iat or exp")
        except (KeyError, ValueError, InvalidSignature) as error:
            wrong.append(repr(error))
        token = "granted-" + uuid.uuid4().hex
        grants[token] = not wrong
        say(service="oauth", status=400 if wrong else 200, wrong=wrong)
        if other := told("token"):
            self.answer(*other)
        elif wrong:
            self.answer(400, {"error": "invalid_grant"})
        else:
            self.answer(200, {"access_token": token, "expires_in": 3599, "token_type": "Bearer"})

    def send(self, body):
        message = json.loads(body)["message"]
        granted = self.headers.get("authorization", "").removeprefix("Bearer ")
        if json.loads(body).get("validate_only") is True:
            # Looked at, and not sent.
            may = grants.get(granted) and self.path == f"/v1/projects/{PROJECT}/messages:send" and message.get("topic")
            say(service="fcm doctor", status=200 if may else 403)
            if other := told("fcm"):
                self.answer(*other)
            elif may:
                self.answer(200, {"name": f"projects/{PROJECT}/messages/fake_message_id"})
            else:
                self.answer(*fcm_error(403, "PERMISSION_DENIED"))
            return
        wrong = wrong_in_fcm(self.path, message)
        if not grants.get(granted):
            answer = *fcm_error(401, "UNAUTHENTICATED"), {}
        elif wrong:
            answer = *fcm_error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", ", ".join(wrong)), {}
        else:
            word = message["token"].split("-")[0]
            answer = fcm_answer(word, turn(message["token"]))
            if word == "stale" and answer and answer[0] == 401:
                grants[granted] = False
        say(service="fcm", id=message["data"].get("push"), token=message["token"], status=answer[0] if answer else 0,
            reason=None, wrong=wrong, connection=self.client_address[1], sent=message)
        if answer is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.answer(*answer)


# Web Push

SUBJECT = "mailto:operator@quartet-test.example"
REACTIONS = ["takes", "queued", "gone", "lost", "large", "many", "bad", "stale", "forbidden", "fails", "shutdown", "moved", "floods",
             "dawdles", "leaves"]
vapid_key = ec.generate_private_key(ec.SECP256R1())
browsers = {}  # token -> private key, secret


def base64url(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def point(key):
    return key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def subscription(token, port):
    browsers[token] = (ec.generate_private_key(ec.SECP256R1()), os.urandom(16))
    key, secret = browsers[token]
    return {"endpoint": f"https://localhost:{port}/push/{token}", "keys": {"p256dh": base64url(point(key)), "auth": base64url(secret)}}


def vapid_problem(text, origin):
    """RFC 8292, sections 2 and 3."""
    match = re.fullmatch(r"vapid t=([\w.-]+), k=([\w-]+)", text)
    if not match:
        return "authorization"
    try:
        header, claims, signed, signature = jwt(match[1])
        if match[2] != base64url(point(vapid_key)) or header.get("alg") != "ES256" or len(signature) != 64:
            return "key"
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
        if not verifies(vapid_key.public_key(), utils.encode_dss_signature(r, s), signed):
            return "signature"
        if claims["aud"] != origin or claims["sub"] != SUBJECT or not 0 < claims["exp"] - time.time() <= 86_400:
            return "aud, sub or exp"
    except (ValueError, KeyError) as error:
        return repr(error)
    return None


def wrong_in_web(headers, body, message):
    wrong = []
    def demand(holds, what):
        if not holds:
            wrong.append(what)
    demand(headers.get("content-encoding") == "aes128gcm", "content-encoding")
    demand(re.fullmatch(r"\d+", headers.get("ttl", "")) and int(headers["ttl"]) <= 86_400, "ttl")
    demand(headers.get("urgency") in ("high", "normal", "low"), "urgency")
    demand(re.fullmatch(r"[A-Za-z0-9_-]{1,32}", headers.get("topic", "none")), "topic")
    demand(len(body) in (1024 + 103, 2048 + 103, 4096), "size")
    try:
        demand(message["title"] and message["body"] and message["kind"] and message["notification"], "message")
        is_test = message.get("isTest") is True
        demand((headers["ttl"] == "0") == is_test and isinstance(message.get("unread"), int) != is_test, "test")
    except (KeyError, TypeError) as error:
        wrong.append(f"message: {error!r}")
    return wrong


def web_answer(word, count):
    first = count == 1
    if word == "queued":
        return 202, {}, b""
    if word == "gone":
        return 410, {}, b""
    if word == "lost":
        return 404, {}, b""
    if word == "large":
        return 413, {}, b""
    if word == "many" and first:
        return 429, {"Retry-After": "1"}, b""
    if word in ("bad", "stale", "forbidden", "fails") and first:
        return {"bad": 400, "stale": 401, "forbidden": 403, "fails": 500}[word], {}, b"no"
    if word == "shutdown" and first:
        return 503, {"Retry-After": "1"}, b""
    if word == "moved" and first:
        return 307, {"Location": "/push/elsewhere-1"}, b""
    if word == "floods" and first:
        return 201, {}, b"x" * 1_000_000
    if word == "dawdles" and first:
        time.sleep(8)
    if word == "leaves" and first:
        return None
    return 201, {"Location": f"/message/{uuid.uuid4()}"}, b""


class Web(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        token = self.path.removeprefix("/push/")
        headers = {name.lower(): value for name, value in self.headers.items()}
        problem = vapid_problem(headers.pop("authorization", ""), f"https://localhost:{self.server.server_port}")
        message = None
        if token not in browsers:
            wrong = ["path"]
        else:
            key, secret = browsers[token]
            try:
                message = json.loads(http_ece.decrypt(body, private_key=key, auth_secret=secret, version="aes128gcm"))
                wrong = wrong_in_web(headers, body, message)
            except Exception as error:
                wrong = [f"encryption: {error!r}"]
        if problem:
            answer = (403, {}, problem.encode())
        elif wrong:
            answer = (400, {}, ", ".join(wrong).encode())
        else:
            answer = web_answer(token.split("-")[0], turn(token))
        say(service="web", id=(message or {}).get("push"), token=token, status=answer[0] if answer else 0, reason=problem, wrong=wrong,
            connection=self.client_address[1], headers=headers, sent=message, plainInBody=b"An alarm" in body or b"kind" in body)
        if answer is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        status, more, content = answer
        try:
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            for name, value in more.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            self.close_connection = True


listener = socket.create_server(("127.0.0.1", 0), backlog=100)
fcm = ThreadingHTTPServer(("127.0.0.1", 0), FCM)
fcm.socket = context("http/1.1").wrap_socket(fcm.socket, server_side=True)
write("fcm.json", json.dumps({
    "type": "service_account", "project_id": PROJECT, "private_key_id": "key-1", "client_email": EMAIL,
    "private_key": pem(fcm_key).decode(), "token_uri": f"https://localhost:{fcm.server_port}/token"}).encode())
web = ThreadingHTTPServer(("127.0.0.1", 0), Web)
web.socket = context("http/1.1").wrap_socket(web.socket, server_side=True)
write("vapid.pem", pem(vapid_key))
write("vapid.pub", base64url(point(vapid_key)).encode())
write("web.json", json.dumps({word: subscription(f"{word}-1", web.server_port) for word in REACTIONS}).encode())
threading.Thread(target=serve_apns, args=(listener,), daemon=True).start()
threading.Thread(target=fcm.serve_forever, daemon=True).start()
threading.Thread(target=web.serve_forever, daemon=True).start()
print("ready", listener.getsockname()[1], fcm.server_port, web.server_port, flush=True)
threading.Event().wait()
