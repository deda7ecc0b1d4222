"""Log in as many command lines do: open a browser, wait for its callback, which never comes."""

import socket

if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        callback = f"http%3A%2F%2F127.0.0.1%3A{port}%2Fcallback"
        print("Opening your browser to log in. If it does not open, visit:\n", flush=True)
        print(f"  https://login.example/oauth/authorize?redirect_uri={callback}\n", flush=True)
        print("Waiting for authentication...", flush=True)
        server.accept()
