import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_SECRET } from '../../../test/setup/secret.ts';
import { testApp } from '../../../test/support/app.ts';
import { bundleNode, type NodeProgram } from '../../../test/support/forked-node.ts';
import { MARKET_OPEN, startTokenizedWorld, type TokenizedWorld } from '../../../test/support/venue.ts';
import { evmWallet, person, proveWallets } from '../../../test/support/wallets.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';

/** A proxy that calls `before` and `after` around each request that `matches` selects. */
type Proxy = { url: string; server: Server; matches: Matches; before(): unknown; after(): unknown };
type Matches = (path: string, body: string) => boolean;

async function startProxy(target: string, matches: Matches): Promise<Proxy> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const isMatch = proxy.matches(request.url ?? '', body);
    if (isMatch && (await proxy.before()) === 'drop') return response.destroy();
    const { origin, pathname } = new URL(target);
    const reply = await fetch(
      `${origin}${pathname === '/' ? '' : pathname}${request.url === '/' ? '' : request.url}`,
      {
        method: String(request.method),
        headers: {
          'content-type': 'application/json',
          'x-api-key': String(request.headers['x-api-key'] ?? ''),
        },
        ...(body !== '' && { body }),
      },
    );
    const text = await reply.text();
    if (isMatch && (await proxy.after()) === 'drop') return response.destroy();
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: Proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    matches,
    before: () => undefined,
    after: () => undefined,
  };
  return proxy;
}

let world: TokenizedWorld;
let venueProxy: Proxy;
let rpcProxy: Proxy;
let token: string;
let program: NodeProgram;
const children: ChildProcess[] = [];

beforeAll(async () => {
  program = await bundleNode('tokenized-node');
  world = await startTokenizedWorld();
  world.venue.state.session = 'regular';
  venueProxy = await startProxy(world.venue.url, (path) => path === '/v1/attestations');
  rpcProxy = await startProxy(
    world.node.url,
    (_path, body) => body.includes('"from"') && body.includes('0x5dcce09f'),
  );
  token = await world.app.tokenFor();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await program.remove();
  for (const { server } of [venueProxy, rpcProxy]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await world.close();
});

const body = () => ({
  ...{ amount: '1005000000', chain: 'ethereum_sepolia', symbol: 'AAPLon' },
  wallet_address: world.wallet.address,
});
const order = (key: string) =>
  world.user.call('POST', '/v1/tokenized/swap/transaction', body(), { 'idempotency-key': key });

async function startNode(): Promise<{ child: ChildProcess; url: string }> {
  const child = program.start();
  children.push(child);
  child.send({
    env: {
      CAUSEWAY_SECRET: TEST_SECRET.toString('base64'),
      RPC_URL_ETHEREUM_SEPOLIA: rpcProxy.url,
      ONDO_URL: venueProxy.url,
      ONDO_API_KEY: world.venue.apiKey,
      OPERATOR_KEY: deriveSandboxKey('operator'),
    },
    databaseUrl: databaseUrl(),
    now: MARKET_OPEN,
  });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return { child, url };
}

function databaseUrl(): string {
  const { connectionString } = world.app.ctx.pool.options;
  return String(connectionString);
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Sends the order to a node that is killed while it handles the order. */
async function orderAndCrash(node: { child: ChildProcess; url: string }, key: string): Promise<void> {
  const gone = once(node.child, 'exit');
  await fetch(`${node.url}/v1/tokenized/swap/transaction`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body()),
  }).catch(() => undefined);
  await gone;
}

async function retryOrder(key: string) {
  for (;;) {
    const reply = await order(key);
    if (reply.body.code !== 'idempotency_in_progress') return reply;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Kills the node just before it writes an order. Locks the orders, waits until the node tries to write one, and then
 * kills both the node and its statement.
 */
async function killAtWrite(node: { child: ChildProcess }): Promise<void> {
  const { pool } = world.app.ctx;
  const client = await pool.connect();
  await client.query('begin');
  await client.query('select from tokenized_orders for update');
  const stop = async () => {
    const blocked = `select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%tokenized_orders%'`;
    let waiting = await pool.query<{ pid: number }>(blocked);
    while (waiting.rows.length === 0) waiting = await pool.query<{ pid: number }>(blocked);
    await kill(node.child);
    for (const { pid } of waiting.rows) await pool.query('select pg_terminate_backend($1)', [pid]);
    await client.query('rollback');
    client.release();
  };
  void stop();
}

async function reset(): Promise<number> {
  await world.app.ctx.db.deleteFrom('tokenized_orders').execute();
  for (const proxy of [venueProxy, rpcProxy])
    Object.assign(proxy, { before: () => undefined, after: () => undefined });
  return world.venue.state.attestations;
}

describe('a node that crashes', () => {
  test('before it stored the order: the retry succeeds, with one attestation', async () => {
    const before = await reset();
    const node = await startNode();
    const isAttestation = venueProxy.matches;
    venueProxy.matches = (path) => path.startsWith('/v1/limits/trading');
    venueProxy.before = async () => {
      await kill(node.child);
      return 'drop';
    };
    await orderAndCrash(node, 'not-stored');
    venueProxy.matches = isAttestation;
    expect((await retryOrder('not-stored')).status).toBe(200);
    expect(world.venue.state.attestations - before).toBe(1);
  }, 90_000);

  test('before it called the venue: the retry is refused, with no attestation', async () => {
    const before = await reset();
    const node = await startNode();
    venueProxy.before = async () => {
      await kill(node.child);
      return 'drop';
    };
    await orderAndCrash(node, 'before');
    const { status, body: reply } = await retryOrder('before');
    expect([status, reply.code]).toEqual([409, 'order_outstanding']);
    expect(world.venue.state.attestations - before).toBe(0);
  }, 90_000);

  test('before it received the response of the venue: the retry is refused, with one attestation', async () => {
    const before = await reset();
    const node = await startNode();
    venueProxy.after = async () => {
      await kill(node.child);
      return 'drop';
    };
    await orderAndCrash(node, 'no-response');
    const { status, body: reply } = await retryOrder('no-response');
    expect([status, reply.code]).toEqual([409, 'order_outstanding']);
    expect((await order('another')).body.code).toBe('order_outstanding');
    expect(world.venue.state.attestations - before).toBe(1);
  }, 90_000);

  test('before it stored the attestation: the retry is refused, with one attestation', async () => {
    const before = await reset();
    const node = await startNode();
    venueProxy.after = () => killAtWrite(node);
    await orderAndCrash(node, 'not-saved');
    const { status, body: reply } = await retryOrder('not-saved');
    expect([status, reply.code]).toEqual([409, 'order_outstanding']);
    expect(world.venue.state.attestations - before).toBe(1);
  }, 90_000);

  test('after it stored the attestation: the retry returns calldata for the same attestation', async () => {
    const before = await reset();
    const node = await startNode();
    const seen: string[] = [];
    rpcProxy.before = async () => {
      seen.push('simulated');
      await kill(node.child);
      return 'drop';
    };
    await orderAndCrash(node, 'stored');
    expect(seen).toEqual(['simulated']);
    const first = await retryOrder('stored');
    expect([first.status, first.body.code]).toEqual([200, undefined]);
    expect((await order('stored')).body).toEqual(first.body);
    expect(world.venue.state.attestations - before).toBe(1);
    expect(
      await world.send(world.wallet.key, first.body.to as `0x${string}`, first.body.data as `0x${string}`),
    ).toBe('success');
  }, 90_000);

  test('after the simulation: the retry returns calldata for the same attestation', async () => {
    const before = await reset();
    const node = await startNode();
    rpcProxy.after = () => killAtWrite(node);
    await orderAndCrash(node, 'simulated-only');
    const first = await retryOrder('simulated-only');
    expect([first.status, first.body.code]).toEqual([200, undefined]);
    expect((await order('simulated-only')).body).toEqual(first.body);
    expect(world.venue.state.attestations - before).toBe(1);
  }, 90_000);

  test('after its response: the retry on another node returns the same response', async () => {
    const before = await reset();
    const node = await startNode();
    const reply = await fetch(`${node.url}/v1/tokenized/swap/transaction`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': 'done',
      },
      body: JSON.stringify(body()),
    });
    expect(reply.status).toBe(200);
    const first = await reply.json();
    await kill(node.child);
    expect((await order('done')).body).toEqual(first);
    expect(world.venue.state.attestations - before).toBe(1);
  }, 90_000);
});

describe('a venue that does not respond', () => {
  test('leaves the order open until its attestation would have expired, without another request', async () => {
    const before = await reset();
    const app = await testApp({
      databaseUrl: databaseUrl(),
      config: {
        ...world.app.ctx.config,
        venue: { url: venueProxy.url, apiKey: world.venue.apiKey },
      },
    });
    try {
      app.clock.set(MARKET_OPEN);
      const user = await person(app);
      venueProxy.after = () => 'drop';
      const place = () =>
        user.call('POST', '/v1/tokenized/swap/transaction', body(), { 'idempotency-key': 'lost' });
      const lost = await place();
      expect([lost.status, lost.body.code, lost.body.errors]).toEqual([
        503,
        'upstream_unavailable',
        { upstream: 'venue' },
      ]);
      expect((await place()).body.code).toBe('order_outstanding');
      expect((await order('meanwhile')).body).toMatchObject({
        code: 'order_outstanding',
        errors: { expires_at: '2026-03-02T15:02:00.000000Z' },
      });
      expect(world.venue.state.attestations - before).toBe(1);
    } finally {
      await app.close();
    }
  });

  test('does not affect other wallets', async () => {
    const { address: wallet_address } = evmWallet('other');
    await proveWallets(world.app.ctx, [wallet_address]);
    const reply = await world.user.call('POST', '/v1/tokenized/swap/transaction', {
      ...{ ...body(), wallet_address },
    });
    expect(reply.body.code).toBe('insufficient_balance');
  });
});
