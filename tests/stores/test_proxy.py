"""The proxy itself: what it leaves open would be found, much later, in a test that has nothing to do with it."""

import gc
import logging
import socket
import sys
import threading

from stores.proxy import Proxy

MOST_CLIENTS = 100  # each has three sockets, and a process may have no more than some hundred


def connect_until_refused(port, clients):
    try:
        for number in range(MOST_CLIENTS):
            clients.append(socket.create_connection(("127.0.0.1", port)))
            clients[-1].sendall(b"GET /runs HTTP/1.1\r\n\r\n"[: 5 if number % 2 else 24])
    except OSError:
        pass


def test_close_leaves_nothing_open_while_clients_connect(monkeypatch, caplog):
    left = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: left.append(unraisable.exc_value))
    with caplog.at_level(logging.ERROR, "asyncio"), socket.create_server(("127.0.0.1", 0)) as silent:
        for _ in range(10):
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
