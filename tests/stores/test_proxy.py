"""The proxy itself: what it leaves open would be found, much later, in a test that has nothing to do with it."""

import gc
import logging
import socket
import sys
import threading

from stores.proxy import Proxy


def connect_until_refused(port, clients):
    try:
        while True:
            clients.append(socket.create_connection(("127.0.0.1", port)))
            clients[-1].sendall(b"GET /runs HTTP/1.1\r\n\r\n"[: 24 if len(clients) % 2 else 5])
    except OSError:
        pass


def test_close_leaves_nothing_open_while_clients_connect(monkeypatch, caplog):
    left = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: left.append(unraisable.exc_value))
    with caplog.at_level(logging.ERROR, "asyncio"), socket.create_server(("127.0.0.1", 0)) as silent:
        for _ in range(20):
            proxy, clients = Proxy(silent.getsockname()[1]), []
            connecting = threading.Thread(target=connect_until_refused, args=(proxy.port, clients))
            connecting.start()
            proxy.close()
            connecting.join()
            for client in clients:
                client.close()
            del proxy
            gc.collect()
    assert left == []
    assert caplog.messages == []
