import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { WebhookSender } from '../../platform/context/ports.ts';
import { openWebhookSender } from './sender.ts';
import { createAddressRules, createUrlRules } from './url-rules.ts';

/** The key of `CERTIFICATE`, a self-signed certificate for receiver.test that expired in 2020. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggIV/pjyZgWmnfpYJ
FsXvQ3VzYG1eE29ge7wRZULte6ahRANCAASSeg2ubnLEa1S4I+caQbyKXvaAbTKg
zvZ7thMsxy6MGL0y3ajoPHC/BFuZ0qJBfSzkdKqRoi2KpzjImrjVMPI1
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBGDCBvgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1yZWNlaXZlci50ZXN0
MB4XDTIwMDEwMTAwMDAwMFoXDTIwMDEwMjAwMDAwMFowGDEWMBQGA1UEAwwNcmVj
ZWl2ZXIudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJJ6Da5ucsRrVLgj
5xpBvIpe9oBtMqDO9nu2EyzHLowYvTLdqOg8cL8EW5nSokF9LOR0qpGiLYqnOMia
uNUw8jUwCgYIKoZIzj0EAwIDSQAwRgIhAKF+o1vd9QPrKrggUdYDsUOUScI61iac
7/qtL/zLpm4QAiEAnXEzLqwKVcbBRAQKkSIisTeE8PauQzheoBjSMyzTcyc=
-----END CERTIFICATE-----`;

const OWN = 'https://api.causeway.test';
const LOOPBACK = ['127.0.0.0/8'];
const opened: { sender: WebhookSender[]; servers: Server[] } = { sender: [], servers: [] };
/** The addresses that `.test` host names resolve to. Tests change these addresses. */
let addresses: string[] = ['127.0.0.1'];
afterEach(() => {
  addresses = ['127.0.0.1'];
});
afterAll(async () => {
  for (const sender of opened.sender) await sender.close();
  for (const server of opened.servers) server.close();
});

function open(allowCidrs = LOOPBACK, timeoutMs = 5_000): WebhookSender {
  const resolve = async (host: string) => (host.endsWith('.test') ? addresses : [host]);
  const sender = openWebhookSender({ allowCidrs, baseUrl: OWN, resolve, timeoutMs });
  opened.sender.push(sender);
  return sender;
}
async function listen(server: Server): Promise<number> {
  opened.servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
const serve = (answer: RequestListener) => listen(createServer(answer));
const send = (sender: WebhookSender, url: string) => sender.send(url, {}, '{}');

describe('the sender connects only to addresses that it has checked', () => {
  test.each([
    ...['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '017700000001', '127.1', '0'],
    ...['169.254.169.254', '168.63.129.16', '100.100.100.200', '[fd00:ec2::254]', '[64:ff9b::a9fe:a9fe]'],
    ...['[2002:7f00:1::]', 'localhost', 'localhost.'],
  ])('%s is refused when it connects, not only when it is saved', async (host) => {
    let isReached = false;
    const port = await serve((_request, response) => {
      isReached = true;
      response.end();
    });
    expect(await send(open([]), `https://${host}:${port}/`)).toMatchObject({
      error: 'address_refused',
      address: null,
    });
    expect(isReached).toBe(false);
  });

  test('a name that changes to a private address after it was saved is refused', async () => {
    const rules = createUrlRules(createAddressRules([]), OWN, async () => addresses);
    addresses = ['93.184.215.14'];
    await rules.check('https://rebinding.test/');
    addresses = ['127.0.0.1'];
    expect((await send(open([]), 'https://rebinding.test/')).error).toBe('address_refused');
  });

  test('a name with a public and a private address is refused altogether', async () => {
    addresses = ['93.184.215.14', '10.0.0.1'];
    expect((await send(open([]), 'https://mixed.test/')).error).toBe('address_refused');
  });

  test('a name that changes during keep-alive is checked again for the next connection', async () => {
    let connections = 0;
    const port = await listen(
      createServer(
        (_request, response) => void response.writeHead(200, { connection: 'close' }).end('ok'),
      ).on('connection', () => void connections++),
    );
    const sender = open();
    expect((await send(sender, `http://flip.test:${port}/`)).status).toBe(200);
    addresses = ['10.0.0.1'];
    expect((await send(sender, `http://flip.test:${port}/`)).error).toBe('address_refused');
    expect(connections).toBe(1);
  });
});

describe('a receiver that misbehaves', () => {
  test('a redirect is a response, not followed', async () => {
    const port = await serve((_request, response) =>
      response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
    );
    expect(await send(open(), `http://127.0.0.1:${port}/`)).toMatchObject({ status: 307, error: null });
  });

  test('headers that drip, or a body that never ends, end with the timeout', async () => {
    const headers = await serve((request) => {
      request.socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => request.socket.write('x-drip: 1\r\n'), 20);
      request.socket.on('close', () => clearInterval(timer));
    });
    const body = await serve((_request, response) => {
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const sender = open(LOOPBACK, 300);
    for (const port of [headers, body])
      expect(await send(sender, `http://127.0.0.1:${port}/`)).toMatchObject({
        status: null,
        error: 'timeout',
      });
  });

  test('of a large body 64 KiB are read and 1 KiB is kept', async () => {
    let sent = 0;
    const port = await serve((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024, 'a');
      const write = () => {
        while (sent < 10 * 1024 * 1024 && !response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', write);
      write();
    });
    const { status, response } = await send(open(), `http://127.0.0.1:${port}/`);
    expect([status, response]).toEqual([200, 'a'.repeat(1024)]);
    expect(sent).toBeLessThan(10 * 1024 * 1024);
  });

  test('a compressed body is not inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024));
    const port = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const { response } = await send(open(), `http://127.0.0.1:${port}/`);
    expect(response?.length).toBeLessThanOrEqual(1024);
  });

  test('NUL and characters that hide text are removed from what is kept', async () => {
    const port = await serve((_request, response) => response.end('a\u0000b\u202e<script>\u0007\nc'));
    expect((await send(open(), `http://127.0.0.1:${port}/`)).response).toBe('ab<script>\nc');
  });

  test.each([
    ['an expired and self-signed certificate', {}],
    ['TLS 1.0 only', { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const],
  ])('%s gives tls_error', async (_case, options) => {
    const port = await listen(
      createTlsServer({ key: KEY, cert: CERTIFICATE, ...options }, (_request, response) => response.end()),
    );
    expect(await send(open(), `https://receiver.test:${port}/`)).toMatchObject({
      status: null,
      error: 'tls_error',
    });
  });

  test('a closed port and an unknown name have different codes', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect((await send(open(), `http://127.0.0.1:${port}/`)).error).toBe('connection_refused');
    addresses = [];
    expect((await send(open(), 'https://unknown.test/')).error).toBe('dns_error');
  });

  test('an attempt shows the address that it was sent to, not that of an earlier attempt', async () => {
    const port = await serve((_request, response) => response.writeHead(200, { connection: 'close' }).end());
    const sender = open();
    const url = `http://moving.test:${port}/`;
    addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.1'];
    expect(await send(sender, url)).toMatchObject({ status: 200, address: '127.0.0.1' });
    addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.1'];
    expect(await send(sender, url)).toMatchObject({ error: 'connection_refused', address: null });
  });

  test('requests that are in progress when the sender closes end with `stopped`', async () => {
    let arrived = 0;
    const port = await serve(() => void arrived++);
    const sender = open();
    const url = `http://127.0.0.1:${port}/`;
    const errors = Promise.all([send(sender, url).then(({ error }) => error), sender.probe(url)]);
    await expect.poll(() => arrived).toBe(2);
    await sender.close();
    expect(await errors).toEqual(['stopped', 'stopped']);
  });

  test('no connection is opened after the attempt has timed out', async () => {
    let connections = 0;
    const port = await listen(createServer().on('connection', () => void connections++));
    let isResolved = false;
    const resolve = async () => {
      await sleep(150);
      isResolved = true;
      return ['127.0.0.1'];
    };
    const sender = openWebhookSender({ allowCidrs: LOOPBACK, baseUrl: OWN, resolve, timeoutMs: 50 });
    opened.sender.push(sender);
    expect(await send(sender, `http://slow.test:${port}/`)).toMatchObject({
      error: 'timeout',
      address: null,
    });
    await expect.poll(() => isResolved, { interval: 10 }).toBe(true);
    await sleep(50);
    expect(connections).toBe(0);
  });
});

describe('WEBHOOK_PROXY', () => {
  /**
   * Starts a proxy. Returns its URL, the addresses that clients asked it to connect to (`asked`), and the credentials
   * of the latest client (`sign`).
   */
  async function startProxy(status = 200): Promise<{ url: string; asked: string[]; sign: () => unknown }> {
    const asked: string[] = [];
    let authorization: unknown;
    const server = createServer().on('connect', ({ url = '', headers }, client) => {
      asked.push(url);
      authorization = headers['proxy-authorization'];
      client.on('error', () => undefined);
      if (status !== 200) return void client.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
      const upstream = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connected\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on('error', () => client.destroy());
    });
    const port = await listen(server);
    return { url: `http://ada:love%20lace@127.0.0.1:${port}`, asked, sign: () => authorization };
  }
  function openThrough(proxyUrl: string, allowCidrs = LOOPBACK): WebhookSender {
    const resolve = async (host: string) => (host.endsWith('.test') ? addresses : [host]);
    const sender = openWebhookSender({
      ...{ allowCidrs, baseUrl: OWN, resolve, timeoutMs: 5_000, proxyUrl },
    });
    opened.sender.push(sender);
    return sender;
  }

  test('carries webhooks to the checked address, and attempts show that address', async () => {
    const received: string[] = [];
    const port = await serve((request, response) => {
      received.push(String(request.headers.host));
      response.end('ok');
    });
    const proxy = await startProxy();
    addresses = ['127.0.0.2'];
    const sent = await send(openThrough(proxy.url), `http://receiver.test:${port}/`);
    expect(sent).toMatchObject({ status: 200, error: null, address: '127.0.0.2' });
    expect([proxy.asked, received]).toEqual([[`127.0.0.2:${port}`], [`receiver.test:${port}`]]);
    expect(proxy.sign()).toBe(`Basic ${Buffer.from('ada:love lace').toString('base64')}`);
  });

  test('does not lift the checks of addresses and certificates', async () => {
    const proxy = await startProxy();
    addresses = ['169.254.169.254'];
    expect((await send(openThrough(proxy.url), 'https://metadata.test/')).error).toBe('address_refused');
    expect(proxy.asked).toEqual([]);
    addresses = ['127.0.0.1'];
    const port = await listen(
      createTlsServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => response.end()),
    );
    expect((await send(openThrough(proxy.url), `https://receiver.test:${port}/`)).error).toBe('tls_error');
    expect(proxy.asked).toEqual([`127.0.0.1:${port}`]);
  });

  test('that refuses or is unreachable fails the attempt, and nothing bypasses it', async () => {
    let requests = 0;
    const port = await serve((_request, response) => {
      requests++;
      response.end();
    });
    const [refusing, gone] = [await startProxy(407), await startProxy()];
    expect((await send(openThrough(refusing.url), `http://127.0.0.1:${port}/`)).error).toBe(
      'connection_failed',
    );
    const server = opened.servers.pop();
    await new Promise((resolve) => server?.close(resolve));
    expect((await send(openThrough(gone.url), `http://127.0.0.1:${port}/`)).error).toBe('connection_failed');
    expect(requests).toBe(0);
  });
});
