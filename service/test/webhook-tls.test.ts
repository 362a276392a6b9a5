import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendEvents } from '../src/events/event.ts';
import { type TestApp, testApp } from './support/app.ts';
import { bundleNode, killNode, type NodeProgram, startEventNode } from './support/forked-node.ts';
import { partnerOf } from './support/tokens.ts';
import { callAs } from './support/webhooks.ts';

/** The certificate that signed the two certificates below, which are valid until 2126. */
const AUTHORITY = `-----BEGIN CERTIFICATE-----
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
const RIGHT = {
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
const WRONG = {
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

let app: TestApp;
let program: NodeProgram;
const folder = mkdtempSync(join(tmpdir(), 'causeway-tls-'));
const servers: Server[] = [];
beforeAll(async () => {
  program = await bundleNode('event-node');
  app = await testApp({ config: { webhookAllowCidrs: ['127.0.0.0/8', '::1/128'] } });
  writeFileSync(join(folder, 'authority.pem'), AUTHORITY);
});
afterAll(async () => {
  for (const server of servers) server.close();
  await program.remove();
  await app.close();
  rmSync(folder, { recursive: true });
});

/** Starts a receiver and returns its URL and how many requests it has received. */
async function receive(identity: typeof RIGHT): Promise<{ url: string; count(): number }> {
  let requests = 0;
  const server = createServer(identity, (_request, response) => {
    requests++;
    response.end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/hooks`,
    count: () => requests,
  };
}

test('a receiver whose trusted certificate is for another name gets nothing', async () => {
  const [right, wrong] = [await receive(RIGHT), await receive(WRONG)];
  const call = await callAs(app);
  const add = async (url: string) =>
    (await call('POST', '/v1/webhook-endpoints', { url, types: ['*'] })).json.id as string;
  const endpoints = [await add(right.url), await add(wrong.url)];
  await appendEvents(app.ctx, app.ctx.db, [
    {
      ...{ partnerId: partnerOf('partner-one'), userId: null, type: 'offer.published' },
      data: { object: 'offer', id: 'offer' },
    },
  ]);
  const env = { NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') };
  const node = await startEventNode(program, String(app.ctx.pool.options.connectionString), { env });
  const attemptOf = async (endpoint = '') => {
    const { json } = await call('GET', `/v1/webhook-endpoints/${endpoint}/deliveries`);
    const { status, error } = json.data[0]?.last_attempt ?? {};
    return [status, error];
  };
  try {
    const poll = { timeout: 20_000, interval: 20 };
    await expect.poll(() => attemptOf(endpoints[0]), poll).toEqual([200, null]);
    await expect.poll(() => attemptOf(endpoints[1]), poll).toEqual([null, 'tls_error']);
    expect([right.count(), wrong.count()]).toEqual([1, 0]);
  } finally {
    await killNode(node);
  }
});
