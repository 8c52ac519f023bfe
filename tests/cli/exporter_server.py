# SPDX-License-Identifier: MIT OR Apache-2.0
"""The server of `hmn exporter`: paths, formats, TLS, passwords, and misbehaving clients."""
import base64
import concurrent.futures
import contextlib
import gzip
import http.client
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time

from command import COMMAND, MACHINES, Machines, card, environment, main, run, shortest_time, skip_all
from exposition import parse, value, values

PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
# Hashes of "correct horse", by the cost of a check.
HASHES = {5: "$2b$05$qjHSw4mOus1nY/fY36gf6eG450pTYRqqFmbkbz1j0VO5fDvVqCeQu",
          11: "$2b$11$TCjGJ8zZ1GcZhimG7VngHusf0U./j8B5rHdV0E.N3bofuHK75qZNC"}


class Server(contextlib.AbstractContextManager):
    """An exporter of a machine file, on a free port."""

    def __init__(self, machine, *arguments, listen="127.0.0.1:0", env=None):
        words = [*COMMAND, "exporter", "--listen", listen, *map(str, arguments)]
        words += ["--machine", str(machine)] if machine else []
        self.process = subprocess.Popen(words, env=env or environment(), stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        match = re.fullmatch(r"hmn: listening at (https?)://(.*):(\d+)/metrics\n", line)
        if not match:
            with self.process:
                raise AssertionError(line + self.process.stderr.read())
        self.scheme, self.host, self.port = match[1], match[2].strip("[]"), int(match[3])

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.returncode is None:
            self.process.terminate()
            self.errors = self.process.stderr.read()
            self.process.wait(20)
            self.process.stderr.close()
        return self.process.returncode

    def get(self, path="/metrics", method="GET", headers=None, timeout=20, source=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout, source_address=source)
        with contextlib.closing(connection):
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            body = answer.read()
            if answer.getheader("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            return answer.status, dict(answer.getheaders()), body.decode()

    def connect(self, source="127.0.0.1"):
        return socket.create_connection((self.host, self.port), 20, (source, 0))

    def metrics(self, **options):
        status, _, text = self.get(**options)
        assert status == 200, (status, text)
        return parse(text)


def basic_auth(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


class Paths(Machines):
    def test_metrics_health_and_start_page_are_served(self):
        with Server(MACHINES / "workstation.json") as server:
            self.assertEqual(server.get("/healthz")[::2], (200, "ok\n"))
            status, headers, text = server.get("/")
            self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
            self.assertIn('href="metrics"', text)
            self.assertEqual(server.get("/metrics")[0], 200)
            for path in ("/metrics/", "/Metrics", "//", "/healthz/x", "/favicon.ico", "/..", "/%2fmetrics"):
                self.assertEqual(server.get(path)[0], 404, path)
            self.assertEqual(server.stop(), 0)
            self.assertEqual(server.errors, "")

    def test_the_accept_header_selects_the_format(self):
        with Server(MACHINES / "workstation.json") as server:
            for accept, kind in (("", PLAIN), ("*/*", PLAIN), ("text/plain", PLAIN),
                                 ("application/openmetrics-text", OPEN),
                                 ("application/openmetrics-text;version=1.0.0;q=0.2,text/plain;q=0.5", PLAIN)):
                status, headers, text = server.get(headers={"Accept": accept})
                self.assertEqual((status, headers["Content-Type"]), (200, kind), accept)
                self.assertEqual(value(parse(text, kind == OPEN), "hypomnesis_devices"), 1)

    def test_a_scrape_is_compressed_if_the_client_accepts_it(self):
        with Server(MACHINES / "workstation.json") as server:
            for accept, kind in ((PLAIN, PLAIN), ("application/openmetrics-text", OPEN)):
                sizes = {}
                for encoding, coding in (("gzip", "gzip"), ("deflate, gzip;q=0.5", "gzip"), ("*", "gzip"), ("", None),
                                         ("identity", None), ("gzip;q=0", None), ("*, gzip;q=0", None)):
                    _, headers, text = server.get(headers={"Accept": accept, "Accept-Encoding": encoding})
                    self.assertEqual(headers.get("Content-Encoding"), coding, encoding)
                    self.assertEqual(headers["Content-Type"], kind)
                    self.assertEqual(value(parse(text, kind == OPEN), "hypomnesis_devices"), 1)
                    sizes[coding] = int(headers["Content-Length"])
                self.assertLess(sizes["gzip"] * 2, sizes[None])
            _, headers, text = server.get("/", headers={"Accept-Encoding": "gzip"})
            self.assertNotIn("Content-Encoding", headers)
            self.assertIn("Metrics", text)

    def test_head_returns_headers_only_and_other_methods_are_refused(self):
        with Server(MACHINES / "workstation.json") as server:
            status, headers, text = server.get(method="HEAD")
            self.assertEqual((status, headers["Content-Type"], text), (200, PLAIN, ""))
            self.assertGreater(int(headers["Content-Length"]), 1000)
            for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "NONSENSE"):
                status, headers, _ = server.get(method=method)
                self.assertEqual((status, headers.get("Allow")), (405, "GET, HEAD"), method)

    def test_requests_that_are_too_large_are_refused(self):
        with Server(MACHINES / "workstation.json") as server:
            self.assertEqual(server.get(headers={"X-Long": "a" * 40000})[0], 431)
            self.assertIn(server.get("/" + "a" * 40000)[0], (414, 431))
            self.assertEqual(server.get(headers={"Content-Length": "9999999999"})[0], 413)
            self.assertEqual(server.get("/healthz")[0], 200)

    def test_malformed_requests_are_refused(self):
        with Server(MACHINES / "workstation.json") as server:
            for request in (b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n",
                            b"GET /metrics HTTP/1.1\r\nno colon\r\n\r\n", b"\xff" * 50000):
                with server.connect() as client, contextlib.suppress(ConnectionError):
                    client.sendall(request)
                    answer = client.recv(100)
                    self.assertFalse(answer.startswith(b"HTTP/1.1 200"), request)
            self.assertEqual(server.get("/healthz")[0], 200)

    def test_the_server_listens_on_ipv6_and_on_all_addresses(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError as error:
            self.skipTest(f"no IPv6: {error}")
        with Server(MACHINES / "workstation.json", listen="[::1]:0") as server:
            self.assertEqual((server.host, server.get("/healthz")[0]), ("::1", 200))
        with Server(MACHINES / "workstation.json", listen=":0") as server:
            for server.host in ("::1", "127.0.0.1"):
                self.assertEqual(server.get("/healthz")[0], 200)

    def test_a_missing_server_program_is_reported_with_its_package(self):
        folder = self.folder / "bin"
        folder.mkdir()
        shutil.copy2(COMMAND[0], folder / "hmn")
        env = environment(LD_LIBRARY_PATH=str(pathlib.Path(COMMAND[0]).parent))
        message = (r"^hmn: no server: (/\S+)/hypomnesis/hmn-exporter is not installed; "
                   r"it is in the package hypomnesis-exporter; --once and --textfile need none\n$")
        result = subprocess.run([folder / "hmn", "exporter"], capture_output=True, text=True, env=env, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertTrue(re.match(message, result.stderr)[1].startswith(f"{folder}/"), result.stderr)
        # Without /proc hmn does not know its own folder, and searches the configured one.
        unshare = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork"]
        hide = ["sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if subprocess.run([*unshare, *hide, "true"], capture_output=True, timeout=60).returncode != 0:
            self.skipTest("unshare or mount is refused")
        result = subprocess.run([*unshare, *hide, folder / "hmn", "exporter"], capture_output=True, text=True, env=env,
                                timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertNotIn("..", re.match(message, result.stderr)[1])

    def test_localhost_is_accepted_as_an_address(self):
        for name in ("localhost", "LocalHost"):
            with Server(MACHINES / "workstation.json", listen=f"{name}:0") as server:
                self.assertEqual((server.host, server.get("/healthz")[0]), ("127.0.0.1", 200))
        result = run("exporter", "--listen", "example.org:0", "--machine", MACHINES / "workstation.json")
        self.assertEqual((result.code, result.out), (2, ""))

    def test_an_address_in_use_is_reported(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            result = run("exporter", "--listen", address, "--machine", MACHINES / "workstation.json")
        self.assertEqual(result.code, 1)
        self.assertIn(address, result.err)
        self.assertIn("in use", result.err)


class Rates(Machines):
    TIME = "hypomnesis_snapshot_timestamp_seconds"
    SENT, LINKS = "DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"

    def make_machine(self, *counts):
        """Returns a machine file whose counters have the next value at each reading."""
        metrics = [{"metric": "pcie_tx_bytes", "count": counts[0]}] + [
            {"metric": f"link_{direction}_bytes", "instance": 1, "count": counts[0]} for direction in ("rx", "tx")]
        changes = [{"at_reading": n + 1, "patch": [
            {"op": "replace", "path": f"/devices/0/metrics/{row}/count", "value": count} for row in range(3)]}
            for n, count in enumerate(counts) if n > 0]
        return self.write_machine(devices=[card(uuid="GPU-1", metrics=metrics)], changes=changes)

    def test_throughput_is_computed_since_the_previous_scrape(self):
        machine = self.make_machine(1000, 4097000, 8193000, 5000)
        with Server(machine, "--compat", "dcgm", "--max-age", "1ms") as server:
            scrapes = []
            for _ in range(12):
                scrapes.append(server.metrics())
                time.sleep(0.05)
        counts = [value(scrape, "hw_gpu_io_bytes_total", network_io_direction="transmit") for scrape in scrapes]
        self.assertEqual((counts[0], counts[-1]), (1000, 5000))
        self.assertEqual((values(scrapes[0], self.SENT), values(scrapes[0], self.LINKS)), ([], []))
        for before, now, old, new in zip(scrapes, scrapes[1:], counts, counts[1:]):
            if new < old:  # reset
                self.assertEqual((values(now, self.SENT), values(now, self.LINKS)), ([], []))
                continue
            seconds = value(now, self.TIME) - value(before, self.TIME)
            sent = value(now, self.SENT)
            self.assertAlmostEqual(sent * seconds, new - old, delta=(new - old) / 20)
            self.assertAlmostEqual(value(now, self.LINKS), 2 * sent / 1024000, delta=sent / 1e9)


class Sharing(Machines):
    def make_slow_machine(self, milliseconds):
        return self.write_machine(devices=[card(uuid="GPU-1", delays=[{"call": "telemetry", "ms": milliseconds}])])

    def read_timestamp(self, families):
        return value(families, "hypomnesis_snapshot_timestamp_seconds")

    def test_concurrent_scrapes_share_one_reading(self):
        with Server(self.make_slow_machine(400), "--max-age", "10ms") as server:
            with concurrent.futures.ThreadPoolExecutor(20) as pool:
                timestamps = set(map(self.read_timestamp, pool.map(lambda _: server.metrics(), range(20))))
            self.assertLessEqual(len(timestamps), 2)

    def test_a_reading_is_shared_up_to_max_age(self):
        with Server(MACHINES / "workstation.json", "--max-age", "1h") as server:
            self.assertEqual(self.read_timestamp(server.metrics()), self.read_timestamp(server.metrics()))
        with Server(MACHINES / "workstation.json", "--max-age", "1ms") as server:
            timestamp = self.read_timestamp(server.metrics())
            time.sleep(0.05)
            self.assertLess(timestamp, self.read_timestamp(server.metrics()))

    def test_a_scrape_ends_before_the_timeout_of_prometheus(self):
        with Server(self.make_slow_machine(60000), "--timeout", "30s") as server:
            def scrape():
                status, _, text = server.get(headers={"X-Prometheus-Scrape-Timeout-Seconds": "1.5"})
                self.assertIn(status, (200, 503))
                if status == 200:
                    self.assertTrue(parse(text)["hypomnesis_reading_error"].samples)
            self.assertLess(shortest_time(scrape, 1.5), 1.5)

    def test_a_short_timeout_is_kept_while_another_client_waits(self):
        with Server(self.make_slow_machine(5000), "--timeout", "30s", "--max-age", "1ms") as server:
            patient = threading.Thread(target=server.get)
            patient.start()
            time.sleep(0.3)
            impatient = {"X-Prometheus-Scrape-Timeout-Seconds": "1"}
            self.assertLess(shortest_time(lambda: server.get(headers=impatient), 1), 1)
            self.assertEqual(server.get("/healthz")[0], 200)
            patient.join()

    def test_the_server_stops_while_clients_wait(self):
        with Server(self.make_slow_machine(60000)) as server:
            thread = threading.Thread(target=lambda: contextlib.suppress(Exception).__enter__()
                                      or self.get_quietly(server))
            thread.start()
            time.sleep(0.3)
            start = time.monotonic()
            self.assertEqual(server.stop(), 0)
            self.assertLess(time.monotonic() - start, 8)
            thread.join()

    @staticmethod
    def get_quietly(server):
        with contextlib.suppress(OSError, http.client.HTTPException):
            server.get()


class Clients(Machines):
    """Misbehaving clients connect from 127.0.0.2, the well-behaved one from 127.0.0.1."""

    def check_response_time(self, server):
        start = time.monotonic()
        self.assertEqual(value(server.metrics(), "hypomnesis_devices"), 1)
        self.assertLess(time.monotonic() - start, 3)

    def test_silent_slow_and_half_closed_clients_delay_no_other(self):
        with Server(MACHINES / "workstation.json") as server, contextlib.ExitStack() as open_:
            clients = [open_.enter_context(server.connect("127.0.0.2")) for _ in range(60)]
            for client in clients[20:]:
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
            for client in clients[40:]:
                client.shutdown(socket.SHUT_WR)
            for _ in range(5):
                for client in clients[20:40]:
                    client.sendall(b"X")
                self.check_response_time(server)

    def test_clients_that_do_not_read_delay_no_other(self):
        with Server(MACHINES / "server-8gpu.json", "--max-age", "1ms") as server, contextlib.ExitStack() as open_:
            for _ in range(40):
                client = open_.enter_context(server.connect("127.0.0.2"))
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            for _ in range(5):
                self.assertEqual(server.get("/healthz")[0], 200)
                self.assertEqual(server.get()[0], 200)

    def test_one_address_cannot_use_all_connections(self):
        with Server(MACHINES / "workstation.json") as server, contextlib.ExitStack() as open_:
            for _ in range(400):
                with contextlib.suppress(OSError):
                    open_.enter_context(server.connect("127.0.0.2"))
            self.check_response_time(server)

    def test_many_addresses_cannot_use_all_connections(self):
        with Server(MACHINES / "workstation.json") as server, contextlib.ExitStack() as open_:
            def open_connections(address, count):
                for _ in range(count):
                    with contextlib.suppress(OSError):
                        open_.enter_context(server.connect(f"127.0.0.{address}"))
            with server.connect() as patient:
                for address in range(2, 10):
                    open_connections(address, 60)
                for address in range(2, 10):
                    open_connections(address, 10)
                    self.check_response_time(server)
                self.assertLess(len(os.listdir(f"/proc/{server.process.pid}/fd")), 230)
                patient.settimeout(20)
                with contextlib.suppress(ConnectionError):
                    self.assertEqual(patient.recv(1), b"")  # the oldest connection, silent since

    def test_clients_that_disconnect_while_waiting_are_dropped(self):
        machine = self.write_machine(devices=[card(delays=[{"call": "telemetry", "ms": 500}])])
        with Server(machine, "--max-age", "1ms") as server:
            for _ in range(3):
                for _ in range(20):
                    with server.connect("127.0.0.2") as client:
                        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                self.check_response_time(server)
            self.assertEqual(server.stop(), 0)

    def test_consecutive_requests_share_one_connection(self):
        with Server(MACHINES / "workstation.json") as server:
            connection = http.client.HTTPConnection(server.host, server.port, timeout=20)
            with contextlib.closing(connection):
                for path in ("/metrics", "/healthz", "/metrics") * 10:
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    self.assertEqual(answer.status, 200)
                    answer.read()
                    address = connection.sock.getsockname()
                self.assertEqual(address, connection.sock.getsockname())


class WebConfig(Machines):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "web.yml"

    def write_config(self, text):
        self.path.write_text(text)
        return ("--web-config", self.path)

    def test_an_unsupported_setting_is_refused_by_name(self):
        for text, words in (("tls_server_config: {cipher_suites: []}", "tls_server_config.cipher_suites"),
                            ("nonsense: 1", "nonsense"), ("basic_auth_users: {a: b}", "bcrypt")):
            result = run("exporter", *self.write_config(text), "--listen", "127.0.0.1:0")
            self.assertEqual(result.code, 2, text)
            self.assertIn(words, result.err)
            self.assertIn(str(self.path), result.err)
        for name, message in (("none.yml", "No such file or directory"), (".", "Is a directory")):
            result = run("exporter", "--web-config", self.folder / name)
            self.assertEqual(result.code, 1)
            self.assertIn(f'": {message}', result.err)

    def test_a_second_document_is_refused(self):
        result = run("exporter", *self.write_config("http_server_config: {http2: false}\n---\nnonsense: 1\n"))
        self.assertEqual(result.code, 2)
        self.assertIn("second document", result.err)

    def test_a_file_without_settings_is_accepted(self):
        for text in ("", "# nothing\n", "---\n"):
            with Server(MACHINES / "workstation.json", *self.write_config(text)) as server:
                self.assertEqual(server.get("/healthz")[0], 200)

    def test_headers_are_in_every_response(self):
        with Server(MACHINES / "workstation.json", *self.write_config(
                "http_server_config: {headers: {X-Frame-Options: deny}}")) as server:
            for path in ("/", "/metrics", "/none"):
                self.assertEqual(server.get(path)[1]["X-Frame-Options"], "deny")

    def test_passwords_protect_every_path(self):
        hash_ = HASHES[5]
        with Server(MACHINES / "workstation.json",
                    *self.write_config(f"basic_auth_users: {{alice: {hash_}}}")) as server:
            for path in ("/", "/metrics", "/healthz", "/none"):
                status, headers, _ = server.get(path)
                self.assertEqual((status, headers["WWW-Authenticate"]), (401, "Basic"), path)
            for user, password in (("alice", "wrong"), ("alice", ""), ("bob", "correct horse"), ("", "")):
                self.assertEqual(server.get(headers=basic_auth(user, password))[0], 401, (user, password))
            for _ in range(2):
                self.assertEqual(server.get(headers=basic_auth("alice", "correct horse"))[0], 200)
            self.assertEqual(server.get(headers=basic_auth("alice", "wrong"))[0], 401)
            self.assertEqual(server.get(headers={"Authorization": "Basic !!!"})[0], 401)

    def test_guessing_passwords_does_not_delay_a_valid_client(self):
        hash_ = HASHES[11]
        with Server(MACHINES / "workstation.json",
                    *self.write_config(f"basic_auth_users: {{alice: {hash_}}}")) as server:
            right = basic_auth("alice", "correct horse")
            self.assertEqual(server.get(headers=right)[0], 200)
            stop = threading.Event()

            def guess():
                while not stop.is_set():
                    with contextlib.suppress(OSError, http.client.HTTPException):
                        server.get(headers=basic_auth("alice", "guess"), source=("127.0.0.2", 0))
            guessers = [threading.Thread(target=guess) for _ in range(8)]
            for thread in guessers:
                thread.start()
            try:
                self.assertLess(shortest_time(lambda: self.assertEqual(server.get(headers=right)[0], 200), 1), 1)
            finally:
                stop.set()
                for thread in guessers:
                    thread.join()


class Tls(Machines):
    def setUp(self):
        super().setUp()
        if not shutil.which("openssl"):
            self.skipTest("openssl is not installed")
        self.make_authority()
        self.make_certificate("server", "subjectAltName=IP:127.0.0.1")
        self.make_certificate("client", "extendedKeyUsage=clientAuth")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], cwd=self.folder, check=True, capture_output=True)

    def make_authority(self, name="ca"):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 2,
                     "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt")

    def make_certificate(self, name, extension, issuer="ca"):
        (self.folder / f"{name}.ext").write_text(extension + "\n")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                     "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{issuer}.crt", "-CAkey", f"{issuer}.key",
                     "-CAcreateserial", "-days", 2, "-extfile", f"{name}.ext", "-out", f"{name}.crt")

    def start_server(self, settings="", certificate="server", key="server"):
        path = self.folder / "web.yml"
        path.write_text(f"tls_server_config:\n  cert_file: {certificate}.crt\n  key_file: {key}.key\n" +
                        "".join(f"  {line}\n" for line in settings.splitlines()))
        return Server(MACHINES / "workstation.json", "--web-config", path)

    def get(self, server, client=None, version=None):
        context = ssl.create_default_context(cafile=self.folder / "ca.crt")
        if client:
            context.load_cert_chain(self.folder / f"{client}.crt", self.folder / f"{client}.key")
        if version:
            context.minimum_version = context.maximum_version = version
        connection = http.client.HTTPSConnection(server.host, server.port, timeout=20, context=context)
        with contextlib.closing(connection):
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            return answer.status, parse(answer.read().decode()) if answer.status == 200 else None

    def test_metrics_are_served_over_tls(self):
        with self.start_server() as server:
            self.assertEqual(server.scheme, "https")
            status, families = self.get(server)
            self.assertEqual((status, value(families, "hypomnesis_devices")), (200, 1))
            with self.assertRaises((OSError, http.client.HTTPException)):
                server.get()
            with server.connect("127.0.0.2") as silent, server.connect("127.0.0.2") as half:
                half.sendall(b"\x16\x03\x01\x02")
                self.assertEqual(self.get(server)[0], 200)
                del silent

    def test_tls_versions_are_limited(self):
        with self.start_server("min_version: TLS13") as server:
            self.assertEqual(self.get(server, version=ssl.TLSVersion.TLSv1_3)[0], 200)
            with self.assertRaises(OSError):
                self.get(server, version=ssl.TLSVersion.TLSv1_2)
        with self.start_server("max_version: TLS12") as server:
            self.assertEqual(self.get(server, version=ssl.TLSVersion.TLSv1_2)[0], 200)
            with self.assertRaises(OSError):
                self.get(server, version=ssl.TLSVersion.TLSv1_3)

    def test_client_certificates_are_verified(self):
        self.make_authority("other")
        self.make_certificate("stranger", "extendedKeyUsage=clientAuth", issuer="other")
        with self.start_server("client_ca_file: ca.crt\nclient_auth_type: RequireAndVerifyClientCert") as server:
            self.assertEqual(self.get(server, "client")[0], 200)
            self.assertEqual(self.get(server)[0], 403)
            self.assertEqual(self.get(server, "stranger")[0], 403)
        with self.start_server("client_ca_file: ca.crt\nclient_auth_type: VerifyClientCertIfGiven") as server:
            self.assertEqual(self.get(server, "client")[0], 200)
            self.assertEqual(self.get(server)[0], 200)
            self.assertEqual(self.get(server, "stranger")[0], 403)

    def test_unusable_certificate_files_are_reported(self):
        for certificate, key, word in (("none", "server", "none.crt"), ("server", "none", "none.key"),
                                       ("server", "client", "client.key"), ("server", "ca", "ca.key")):
            with self.assertRaises(AssertionError) as error:
                self.start_server(certificate=certificate, key=key)
            self.assertIn(word, str(error.exception))


if __name__ == "__main__":
    missing = run("exporter", "--listen", "127.0.0.1:0", "--web-config", "/dev/null/none")
    if "without the server" in missing.err:
        skip_all("cli.exporter_server", "the server is not built")
    main()
