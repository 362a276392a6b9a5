import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';

/** The certificate of the authority that signed the two certificates below. All are valid until 2126. */
export const AUTHORITY = `-----BEGIN CERTIFICATE-----
MIIBnTCCAUOgAwIBAgIUPfAiuDH2Gtwc4tYe2BiBSO0+I3UwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQQ2F1c2V3YXkgdGVzdCBDQTAgFw0yNjExMTYwNzMwNTNaGA8y
MTI2MTAyMzA3MzA1M1owGzEZMBcGA1UEAwwQQ2F1c2V3YXkgdGVzdCBDQTBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABMgjhJq97pgC9RhQecrplTwc8ezixIUkph+X
WV21DYbE9Qgv2f8n3HZ/3mwbBkqb6I06YlabYlpgoWG8vQJfXwCjYzBhMB0GA1Ud
DgQWBBSHr5zWyk9Pe6dR3gF3l+m9Ona9LTAfBgNVHSMEGDAWgBSHr5zWyk9Pe6dR
3gF3l+m9Ona9LTAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwICBDAKBggq
hkjOPQQDAgNIADBFAiEArqj+H4+mKmyosHD6lBKGGwmxgktSWgG2HMuZxGDf4SsC
IAYP/YDO8m9RYEPB+4YaA2V80Eps06aTSHl4MLMsaP+W
-----END CERTIFICATE-----`;
/** The key and certificate of localhost. */
export const LOCALHOST = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgI0lBA7hcylTn03jv
pp48h9O+25llVy0IAbfVbbb4CnihRANCAARjOrmoFrOSp3tTHVl2Dv++Yptg/2oE
K1EkN1mjZv7w83ej9O6CVqvpBdDzfiS2oQKVunl/i/UTpMurzNcpb/Ci
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBizCCATGgAwIBAgIUTYRHkm9YGnngfnWfvzYk0++t6EAwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQQ2F1c2V3YXkgdGVzdCBDQTAgFw0yNjExMTYwNzMwNTNaGA8y
MTI2MTAyMzA3MzA1M1owFDESMBAGA1UEAwwJbG9jYWxob3N0MFkwEwYHKoZIzj0C
AQYIKoZIzj0DAQcDQgAEYzq5qBazkqd7Ux1Zdg7/vmKbYP9qBCtRJDdZo2b+8PN3
o/Tuglar6QXQ834ktqEClbp5f4v1E6TLq8zXKW/woqNYMFYwFAYDVR0RBA0wC4IJ
bG9jYWxob3N0MB0GA1UdDgQWBBTe//7C4NO070mzzcYud9gX/+mt1TAfBgNVHSME
GDAWgBSHr5zWyk9Pe6dR3gF3l+m9Ona9LTAKBggqhkjOPQQDAgNIADBFAiEAtSI8
z2kyAauCj1AcbxupqUuf9XSASgk+ItqGGKv8fz0CIGkk6/Q9toFF/zAlRHk2H3gr
+UJ9RGXvgMrPlMFOT+qR
-----END CERTIFICATE-----`,
};
/** The key and certificate of other.test. */
export const OTHER_HOST = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwck0pPa/uRl/oWiL
+c9piRCbXRv6gO/slZCVNh7MpbqhRANCAAQP2WZroMJxlQ7V5hzKruyS4A5xUU59
nk+p6sN2YpZHn4hsqR54uFa+Jvy4Q4M3Zmp3dVm4NjsLaZcPRo6P+Bc0
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBjDCCATOgAwIBAgIUTYRHkm9YGnngfnWfvzYk0++t6EEwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQQ2F1c2V3YXkgdGVzdCBDQTAgFw0yNjExMTYwNzMwNTNaGA8y
MTI2MTAyMzA3MzA1M1owFTETMBEGA1UEAwwKb3RoZXIudGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABA/ZZmugwnGVDtXmHMqu7JLgDnFRTn2eT6nqw3Zilkef
iGypHni4Vr4m/LhDgzdmand1Wbg2Owtplw9Gjo/4FzSjWTBXMBUGA1UdEQQOMAyC
Cm90aGVyLnRlc3QwHQYDVR0OBBYEFAJbTxu5jrVVW5Atsyt8VbzP8n4JMB8GA1Ud
IwQYMBaAFIevnNbKT097p1HeAXeX6b06dr0tMAoGCCqGSM49BAMCA0cAMEQCIEVy
ZXxVQosMRLoJGRjbVHGpn/aZEnQXhgKfIOhqiP1XAiByYGdNgv9sqWOkVfF8R2Kt
90BrHPnCsV4F4kaggLShTA==
-----END CERTIFICATE-----`,
};

/** Accepts TLS connections on https://localhost and forwards their bytes to the port of `target`. */
export async function startTlsProxy(target: string): Promise<{ port: number; stop(): Promise<void> }> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    return socket;
  };
  const server = createServer(LOCALHOST, (secure) => {
    const plain = keep(connect(Number(port), hostname));
    keep(secure).pipe(plain).pipe(secure);
    plain.on('close', () => secure.destroy());
    secure.on('close', () => plain.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
