"""Signs a user in with authlib, then refreshes, introspects and revokes. Prints the access token, which must work."""

import json
import os
from urllib.parse import urljoin, urlsplit

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import JsonWebKey, jwt
from authlib.oidc.core import CodeIDToken

SETTINGS = json.loads(os.environ["SETTINGS"])
SCOPE = "openid email offers:read offline_access"
ISSUER = SETTINGS["issuer"]


def authorize(url):
    """Follows redirects within the service, with cookies, up to the first one that leaves it."""
    browser = requests.Session()
    browser.headers["accept"] = "text/html"
    for _ in range(10):
        if not url.startswith(ISSUER):
            return url
        reply = browser.get(url, allow_redirects=False)
        url = urljoin(url, reply.headers["location"])
    raise RuntimeError("too many redirects")


def session(method):
    return OAuth2Session(
        SETTINGS["clientId"],
        SETTINGS["clientSecret"],
        scope=SCOPE,
        redirect_uri=SETTINGS["redirectUri"],
        code_challenge_method="S256",
        token_endpoint_auth_method=method,
    )


def sign_in(server, client):
    verifier, nonce = generate_token(48), generate_token(20)
    url, state = client.create_authorization_url(
        server["authorization_endpoint"], code_verifier=verifier, nonce=nonce
    )
    callback = authorize(url)
    token = client.fetch_token(
        server["token_endpoint"], authorization_response=callback, state=state, code_verifier=verifier
    )
    keys = JsonWebKey.import_key_set(requests.get(server["jwks_uri"]).json())
    claims = jwt.decode(
        token["id_token"],
        keys,
        claims_cls=CodeIDToken,
        claims_options={"iss": {"values": [ISSUER]}, "aud": {"values": [SETTINGS["clientId"]]}},
        claims_params={"nonce": nonce, "client_id": SETTINGS["clientId"], "access_token": token["access_token"]},
    )
    claims.validate(leeway=5)
    assert client.get(server["userinfo_endpoint"]).json()["sub"] == claims["sub"], "other subject"
    return token


server = requests.get(ISSUER + "/.well-known/openid-configuration").json()
assert urlsplit(server["issuer"]).netloc == urlsplit(ISSUER).netloc
for method in ("client_secret_post", "client_secret_basic"):
    client = session(method)
    token = sign_in(server, client)
    assert client.introspect_token(server["introspection_endpoint"], token["access_token"]).json()["active"]
    refreshed = client.refresh_token(server["token_endpoint"], refresh_token=token["refresh_token"])
    assert client.revoke_token(server["revocation_endpoint"], token["access_token"]).status_code == 200
    introspected = client.introspect_token(server["introspection_endpoint"], token["access_token"]).json()
    assert introspected == {"active": False}, introspected
    app = OAuth2Session(
        SETTINGS["clientId"],
        SETTINGS["clientSecret"],
        scope="offers:read",
        token_endpoint_auth_method=method,
    )
    assert app.fetch_token(server["token_endpoint"], grant_type="client_credentials")["scope"] == "offers:read"

print(json.dumps({"token": refreshed["access_token"]}))
