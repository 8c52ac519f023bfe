# SPDX-License-Identifier: MIT OR Apache-2.0
"""The server of `hmn exporter`: paths, formats, TLS, passwords, and clients that misbehave."""
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

from command import COMMAND, MACHINES, Machines, card, environment, main, quickest, run, skip_all
from exposition import parse, value, values

PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
# Of "correct horse", by the cost of a check.
HASHES = {5: "$2b$05$qjHSw4mOus1nY/fY36gf6eG450pTYRqqFmbkbz1j0VO5fDvVqCeQu",
          11: "$2b$11$TCjGJ8zZ1GcZhimG7VngHusf0U./j8B5rHdV0E.N3bofuHK75qZNC"}


class Server(contextlib.AbstractContextManager):
    """An exporter of a machine file, on a free port."""

    def __init__(self, machine, *arguments, listen="127.0.0.1:0", env=None):
        words = [*COMMAND, "exporter", "--listen", listen, *map(str, arguments)]
        words += ["--machine", str(machine)] if machine else []
        self.process = subprocess.Popen(words, env=env or environment(), stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"hmn: listening at (https?)://(.*):(\d+)/metrics\n", line)
        if not found:
            with self.process:
                raise AssertionError(line + self.process.stderr.read())
        self.scheme, self.host, self.port = found[1], found[2].strip("[]"), int(found[3])

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.returncode is None:
            self.process.terminate()
            self.said = self.process.stderr.read()
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

    def raw(self, source="127.0.0.1"):
        return socket.create_connection((self.host, self.port), 20, (source, 0))

    def metrics(self, **options):
        status, _, text = self.get(**options)
        assert status == 200, (status, text)
        return parse(text)


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


class Paths(Machines):
    def test_there_are_three_paths(self):
        with Server(MACHINES / "workstation.json") as server:
            self.assertEqual(server.get("/healthz")[::2], (200, "ok\n"))
            status, headers, text = server.get("/")
            self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
            self.assertIn('href="metrics"', text)
            self.assertEqual(server.get("/metrics")[0], 200)
            for path in ("/metrics/", "/Metrics", "//", "/healthz/x", "/favicon.ico", "/..", "/%2fmetrics"):
                self.assertEqual(server.get(path)[0], 404, path)
            self.assertEqual(server.stop(), 0)
            self.assertEqual(server.said, "")

    def test_the_accept_header_selects_the_format(self):
        with Server(MACHINES / "workstation.json") as server:
            for accept, kind in (("", PLAIN), ("*/*", PLAIN), ("text/plain", PLAIN),
                                 ("application/openmetrics-text", OPEN),
                                 ("application/openmetrics-text;version=1.0.0;q=0.2,text/plain;q=0.5", PLAIN)):
                status, headers, text = server.get(headers={"Accept": accept})
                self.assertEqual((status, headers["Content-Type"]), (200, kind), accept)
                self.assertEqual(value(parse(text, kind == OPEN), "hypomnesis_devices"), 1)

    def test_a_scrape_is_compressed_where_that_is_accepted(self):
        with Server(MACHINES / "workstation.json") as server:
            for accept, kind in ((PLAIN, PLAIN), ("application/openmetrics-text", OPEN)):
                sizes = {}
                for encoding, answered in (("gzip", "gzip"), ("deflate, gzip;q=0.5", "gzip"), ("*", "gzip"), ("", None),
                                           ("identity", None), ("gzip;q=0", None), ("*, gzip;q=0", None)):
                    _, headers, text = server.get(headers={"Accept": accept, "Accept-Encoding": encoding})
                    self.assertEqual(headers.get("Content-Encoding"), answered, encoding)
                    self.assertEqual(headers["Content-Type"], kind)
                    self.assertEqual(value(parse(text, kind == OPEN), "hypomnesis_devices"), 1)
                    sizes[answered] = int(headers["Content-Length"])
                self.assertLess(sizes["gzip"] * 2, sizes[None])
            _, headers, text = server.get("/", headers={"Accept-Encoding": "gzip"})
            self.assertNotIn("Content-Encoding", headers)
            self.assertIn("Metrics", text)

    def test_head_has_the_headers_alone_and_other_methods_are_refused(self):
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
                with server.raw() as client, contextlib.suppress(ConnectionError):
                    client.sendall(request)
                    answer = client.recv(100)
                    self.assertFalse(answer.startswith(b"HTTP/1.1 200"), request)
            self.assertEqual(server.get("/healthz")[0], 200)

    def test_ipv6_and_every_address(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError as why:
            self.skipTest(f"no IPv6: {why}")
        with Server(MACHINES / "workstation.json", listen="[::1]:0") as server:
            self.assertEqual((server.host, server.get("/healthz")[0]), ("::1", 200))
        with Server(MACHINES / "workstation.json", listen=":0") as server:
            for server.host in ("::1", "127.0.0.1"):
                self.assertEqual(server.get("/healthz")[0], 200)

    def test_a_server_that_is_not_installed_names_its_package(self):
        alone = self.folder / "bin"
        alone.mkdir()
        shutil.copy2(COMMAND[0], alone / "hmn")
        found = environment(LD_LIBRARY_PATH=str(pathlib.Path(COMMAND[0]).parent))
        missing = (r"^hmn: no server: (/\S+)/hypomnesis/hmn-exporter is not installed; "
                   r"it is in the package hypomnesis-exporter; --once and --textfile need none\n$")
        done = subprocess.run([alone / "hmn", "exporter"], capture_output=True, text=True, env=found, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(re.match(missing, done.stderr)[1].startswith(f"{alone}/"), done.stderr)
        # Without /proc the own folder is not known: it is sought where it was to be installed.
        unshare = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork"]
        hide = ["sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if subprocess.run([*unshare, *hide, "true"], capture_output=True, timeout=60).returncode != 0:
            self.skipTest("unshare or mount is refused")
        done = subprocess.run([*unshare, *hide, alone / "hmn", "exporter"], capture_output=True, text=True, env=found,
                              timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("..", re.match(missing, done.stderr)[1])

    def test_localhost_is_an_address(self):
        for name in ("localhost", "LocalHost"):
            with Server(MACHINES / "workstation.json", listen=f"{name}:0") as server:
                self.assertEqual((server.host, server.get("/healthz")[0]), ("127.0.0.1", 200))
        refused = run("exporter", "--listen", "example.org:0", "--machine", MACHINES / "workstation.json")
        self.assertEqual((refused.code, refused.out), (2, ""))

    def test_an_address_in_use_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            where = f"127.0.0.1:{taken.getsockname()[1]}"
            result = run("exporter", "--listen", where, "--machine", MACHINES / "workstation.json")
        self.assertEqual(result.code, 1)
        self.assertIn(where, result.err)
        self.assertIn("in use", result.err)


class Rates(Machines):
    TIME = "hypomnesis_snapshot_timestamp_seconds"
    SENT, LINKS = "DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"

    def machine_with(self, *counts):
        """A machine whose counters have other values at each reading."""
        metrics = [{"metric": "pcie_tx_bytes", "count": counts[0]}] + [
            {"metric": f"link_{way}_bytes", "instance": 1, "count": counts[0]} for way in ("rx", "tx")]
        changes = [{"at_reading": n + 1, "patch": [
            {"op": "replace", "path": f"/devices/0/metrics/{row}/count", "value": count} for row in range(3)]}
            for n, count in enumerate(counts) if n > 0]
        return self.machine(devices=[card(uuid="GPU-1", metrics=metrics)], changes=changes)

    def test_throughput_is_what_was_counted_since_the_scrape_before(self):
        machine = self.machine_with(1000, 4097000, 8193000, 5000)
        with Server(machine, "--compat", "dcgm", "--max-age", "1ms") as server:
            scrapes = []
            for _ in range(12):
                scrapes.append(server.metrics())
                time.sleep(0.05)
        counts = [value(each, "hw_gpu_io_bytes_total", network_io_direction="transmit") for each in scrapes]
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
    def slow(self, milliseconds):
        return self.machine(devices=[card(uuid="GPU-1", delays=[{"call": "telemetry", "ms": milliseconds}])])

    def moment(self, families):
        return value(families, "hypomnesis_snapshot_timestamp_seconds")

    def test_scrapes_at_the_same_time_share_one_reading(self):
        with Server(self.slow(400), "--max-age", "10ms") as server:
            with concurrent.futures.ThreadPoolExecutor(20) as pool:
                moments = set(map(self.moment, pool.map(lambda _: server.metrics(), range(20))))
            self.assertLessEqual(len(moments), 2)

    def test_a_scrape_is_shared_up_to_its_longest_age(self):
        with Server(MACHINES / "workstation.json", "--max-age", "1h") as server:
            self.assertEqual(self.moment(server.metrics()), self.moment(server.metrics()))
        with Server(MACHINES / "workstation.json", "--max-age", "1ms") as server:
            first = self.moment(server.metrics())
            time.sleep(0.05)
            self.assertLess(first, self.moment(server.metrics()))

    def test_a_scrape_ends_before_the_limit_of_prometheus(self):
        with Server(self.slow(60000), "--timeout", "30s") as server:
            def scrape():
                status, _, text = server.get(headers={"X-Prometheus-Scrape-Timeout-Seconds": "1.5"})
                self.assertIn(status, (200, 503))
                if status == 200:
                    self.assertTrue(parse(text)["hypomnesis_reading_error"].samples)
            self.assertLess(quickest(scrape, 1.5), 1.5)

    def test_an_impatient_client_does_not_wait_for_a_patient_one(self):
        with Server(self.slow(5000), "--timeout", "30s", "--max-age", "1ms") as server:
            patient = threading.Thread(target=server.get)
            patient.start()
            time.sleep(0.3)
            impatient = {"X-Prometheus-Scrape-Timeout-Seconds": "1"}
            self.assertLess(quickest(lambda: server.get(headers=impatient), 1), 1)
            self.assertEqual(server.get("/healthz")[0], 200)
            patient.join()

    def test_it_stops_while_clients_wait(self):
        with Server(self.slow(60000)) as server:
            waiting = threading.Thread(target=lambda: contextlib.suppress(Exception).__enter__() or self.quiet(server))
            waiting.start()
            time.sleep(0.3)
            begun = time.monotonic()
            self.assertEqual(server.stop(), 0)
            self.assertLess(time.monotonic() - begun, 8)
            waiting.join()

    @staticmethod
    def quiet(server):
        with contextlib.suppress(OSError, http.client.HTTPException):
            server.get()


class Clients(Machines):
    """Clients that misbehave come from 127.0.0.2, and the one that is served from 127.0.0.1."""

    def served(self, server):
        begun = time.monotonic()
        self.assertEqual(value(server.metrics(), "hypomnesis_devices"), 1)
        self.assertLess(time.monotonic() - begun, 3)

    def test_silent_dripping_and_half_closed_clients_hold_up_nobody(self):
        with Server(MACHINES / "workstation.json") as server, contextlib.ExitStack() as open_:
            clients = [open_.enter_context(server.raw("127.0.0.2")) for _ in range(60)]
            for client in clients[20:]:
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
            for client in clients[40:]:
                client.shutdown(socket.SHUT_WR)
            for _ in range(5):
                for client in clients[20:40]:
                    client.sendall(b"X")
                self.served(server)

    def test_clients_that_do_not_read_hold_up_nobody(self):
        with Server(MACHINES / "server-8gpu.json", "--max-age", "1ms") as server, contextlib.ExitStack() as open_:
            for _ in range(40):
                client = open_.enter_context(server.raw("127.0.0.2"))
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            for _ in range(5):
                self.assertEqual(server.get("/healthz")[0], 200)
                self.assertEqual(server.get()[0], 200)

    def test_one_address_cannot_take_all_connections(self):
        with Server(MACHINES / "workstation.json") as server, contextlib.ExitStack() as open_:
            for _ in range(400):
                with contextlib.suppress(OSError):
                    open_.enter_context(server.raw("127.0.0.2"))
            self.served(server)

    def test_many_addresses_cannot_take_all_connections(self):
        with Server(MACHINES / "workstation.json") as server, contextlib.ExitStack() as open_:
            def take(address, count):
                for _ in range(count):
                    with contextlib.suppress(OSError):
                        open_.enter_context(server.raw(f"127.0.0.{address}"))
            with server.raw() as patient:
                for address in range(2, 10):
                    take(address, 60)
                for address in range(2, 10):
                    take(address, 10)
                    self.served(server)
                self.assertLess(len(os.listdir(f"/proc/{server.process.pid}/fd")), 230)
                patient.settimeout(20)
                with contextlib.suppress(ConnectionError):
                    self.assertEqual(patient.recv(1), b"")  # the first of all, and silent since

    def test_clients_that_go_away_while_they_wait_are_forgotten(self):
        machine = self.machine(devices=[card(delays=[{"call": "telemetry", "ms": 500}])])
        with Server(machine, "--max-age", "1ms") as server:
            for _ in range(3):
                for _ in range(20):
                    with server.raw("127.0.0.2") as client:
                        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                self.served(server)
            self.assertEqual(server.stop(), 0)

    def test_requests_one_after_the_other_use_one_connection(self):
        with Server(MACHINES / "workstation.json") as server:
            connection = http.client.HTTPConnection(server.host, server.port, timeout=20)
            with contextlib.closing(connection):
                for path in ("/metrics", "/healthz", "/metrics") * 10:
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    self.assertEqual(answer.status, 200)
                    answer.read()
                    own = connection.sock.getsockname()
                self.assertEqual(own, connection.sock.getsockname())


class WebConfig(Machines):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "web.yml"

    def config(self, text):
        self.path.write_text(text)
        return ("--web-config", self.path)

    def test_a_setting_that_is_not_supported_is_refused_by_name(self):
        for text, words in (("tls_server_config: {cipher_suites: []}", "tls_server_config.cipher_suites"),
                            ("nonsense: 1", "nonsense"), ("basic_auth_users: {a: b}", "bcrypt")):
            result = run("exporter", *self.config(text), "--listen", "127.0.0.1:0")
            self.assertEqual(result.code, 2, text)
            self.assertIn(words, result.err)
            self.assertIn(str(self.path), result.err)
        for name, why in (("none.yml", "No such file or directory"), (".", "Is a directory")):
            result = run("exporter", "--web-config", self.folder / name)
            self.assertEqual(result.code, 1)
            self.assertIn(f'": {why}', result.err)

    def test_a_second_document_is_refused(self):
        result = run("exporter", *self.config("http_server_config: {http2: false}\n---\nnonsense: 1\n"))
        self.assertEqual(result.code, 2)
        self.assertIn("second document", result.err)

    def test_a_file_without_settings_changes_nothing(self):
        for text in ("", "# nothing\n", "---\n"):
            with Server(MACHINES / "workstation.json", *self.config(text)) as server:
                self.assertEqual(server.get("/healthz")[0], 200)

    def test_headers_are_in_every_answer(self):
        with Server(MACHINES / "workstation.json", *self.config(
                "http_server_config: {headers: {X-Frame-Options: deny}}")) as server:
            for path in ("/", "/metrics", "/none"):
                self.assertEqual(server.get(path)[1]["X-Frame-Options"], "deny")

    def test_passwords_protect_every_path(self):
        hash_ = HASHES[5]
        with Server(MACHINES / "workstation.json", *self.config(f"basic_auth_users: {{alice: {hash_}}}")) as server:
            for path in ("/", "/metrics", "/healthz", "/none"):
                status, headers, _ = server.get(path)
                self.assertEqual((status, headers["WWW-Authenticate"]), (401, "Basic"), path)
            for user, password in (("alice", "wrong"), ("alice", ""), ("bob", "correct horse"), ("", "")):
                self.assertEqual(server.get(headers=basic(user, password))[0], 401, (user, password))
            for _ in range(2):
                self.assertEqual(server.get(headers=basic("alice", "correct horse"))[0], 200)
            self.assertEqual(server.get(headers=basic("alice", "wrong"))[0], 401)
            self.assertEqual(server.get(headers={"Authorization": "Basic !!!"})[0], 401)

    def test_who_guesses_passwords_does_not_hold_up_who_has_one(self):
        hash_ = HASHES[11]
        with Server(MACHINES / "workstation.json", *self.config(f"basic_auth_users: {{alice: {hash_}}}")) as server:
            right = basic("alice", "correct horse")
            self.assertEqual(server.get(headers=right)[0], 200)
            stop = threading.Event()

            def guess():
                while not stop.is_set():
                    with contextlib.suppress(OSError, http.client.HTTPException):
                        server.get(headers=basic("alice", "guess"), source=("127.0.0.2", 0))
            guessers = [threading.Thread(target=guess) for _ in range(8)]
            for each in guessers:
                each.start()
            try:
                self.assertLess(quickest(lambda: self.assertEqual(server.get(headers=right)[0], 200), 1), 1)
            finally:
                stop.set()
                for each in guessers:
                    each.join()


class Tls(Machines):
    def setUp(self):
        super().setUp()
        if not shutil.which("openssl"):
            self.skipTest("openssl is not installed")
        self.authority()
        self.certificate("server", "subjectAltName=IP:127.0.0.1")
        self.certificate("client", "extendedKeyUsage=clientAuth")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], cwd=self.folder, check=True, capture_output=True)

    def authority(self, name="ca"):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 2,
                     "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt")

    def certificate(self, name, extension, by="ca"):
        (self.folder / f"{name}.ext").write_text(extension + "\n")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                     "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{by}.crt", "-CAkey", f"{by}.key",
                     "-CAcreateserial", "-days", 2, "-extfile", f"{name}.ext", "-out", f"{name}.crt")

    def server(self, more="", certificate="server", key="server"):
        path = self.folder / "web.yml"
        path.write_text(f"tls_server_config:\n  cert_file: {certificate}.crt\n  key_file: {key}.key\n" +
                        "".join(f"  {line}\n" for line in more.splitlines()))
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
        with self.server() as server:
            self.assertEqual(server.scheme, "https")
            status, families = self.get(server)
            self.assertEqual((status, value(families, "hypomnesis_devices")), (200, 1))
            with self.assertRaises((OSError, http.client.HTTPException)):
                server.get()
            with server.raw("127.0.0.2") as silent, server.raw("127.0.0.2") as half:
                half.sendall(b"\x16\x03\x01\x02")
                self.assertEqual(self.get(server)[0], 200)
                del silent

    def test_versions_are_limited(self):
        with self.server("min_version: TLS13") as server:
            self.assertEqual(self.get(server, version=ssl.TLSVersion.TLSv1_3)[0], 200)
            with self.assertRaises(OSError):
                self.get(server, version=ssl.TLSVersion.TLSv1_2)
        with self.server("max_version: TLS12") as server:
            self.assertEqual(self.get(server, version=ssl.TLSVersion.TLSv1_2)[0], 200)
            with self.assertRaises(OSError):
                self.get(server, version=ssl.TLSVersion.TLSv1_3)

    def test_clients_show_certificates(self):
        self.authority("other")
        self.certificate("stranger", "extendedKeyUsage=clientAuth", by="other")
        with self.server("client_ca_file: ca.crt\nclient_auth_type: RequireAndVerifyClientCert") as server:
            self.assertEqual(self.get(server, "client")[0], 200)
            self.assertEqual(self.get(server)[0], 403)
            self.assertEqual(self.get(server, "stranger")[0], 403)
        with self.server("client_ca_file: ca.crt\nclient_auth_type: VerifyClientCertIfGiven") as server:
            self.assertEqual(self.get(server, "client")[0], 200)
            self.assertEqual(self.get(server)[0], 200)
            self.assertEqual(self.get(server, "stranger")[0], 403)

    def test_files_that_do_not_fit_are_named(self):
        for certificate, key, word in (("none", "server", "none.crt"), ("server", "none", "none.key"),
                                       ("server", "client", "client.key"), ("server", "ca", "ca.key")):
            with self.assertRaises(AssertionError) as refused:
                self.server(certificate=certificate, key=key)
            self.assertIn(word, str(refused.exception))


if __name__ == "__main__":
    missing = run("exporter", "--listen", "127.0.0.1:0", "--web-config", "/dev/null/none")
    if "without the server" in missing.err:
        skip_all("cli.exporter_server", "the server is not built")
    main()
