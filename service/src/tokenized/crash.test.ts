import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_SECRET } from '../../test/setup/secret.ts';
import { testApp } from '../../test/support/app.ts';
import { MARKET_OPEN, startTokenizedWorld, type TokenizedWorld } from '../../test/support/venue.ts';
import { evmWallet, person } from '../../test/support/wallets.ts';
import { deriveSandboxKey } from '../operator/sandbox-keys.ts';

const ENTRY = fileURLToPath(new URL('../../test/support/tokenized-node.ts', import.meta.url));

/** Stands before a server and does something at one moment of one kind of request. */
type Gate = { url: string; server: Server; concerns: Concerns; before(): unknown; after(): unknown };
type Concerns = (path: string, body: string) => boolean;

async function startGate(target: string, concerns: Concerns): Promise<Gate> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const isIt = gate.concerns(request.url ?? '', body);
    if (isIt && (await gate.before()) === 'drop') return response.destroy();
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
    if (isIt && (await gate.after()) === 'drop') return response.destroy();
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const gate: Gate = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    concerns,
    before: () => undefined,
    after: () => undefined,
  };
  return gate;
}

let world: TokenizedWorld;
let venueGate: Gate;
let rpcGate: Gate;
let token: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  world = await startTokenizedWorld();
  world.venue.state.session = 'regular';
  venueGate = await startGate(world.venue.url, (path) => path === '/v1/attestations');
  rpcGate = await startGate(
    world.node.url,
    (_path, body) => body.includes('"from"') && body.includes('0x5dcce09f'),
  );
  token = await world.app.tokenFor();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const { server } of [venueGate, rpcGate]) {
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
  const child = fork(ENTRY, {
    execArgv: 'typescript' in process.features && process.features.typescript ? [] : ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  children.push(child);
  child.send({
    env: {
      CAUSEWAY_SECRET: TEST_SECRET.toString('base64'),
      RPC_URL_ETHEREUM_SEPOLIA: rpcGate.url,
      ONDO_URL: venueGate.url,
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

/** The node is asked with this key and dies meanwhile; the others may take over when its lock is gone. */
async function askAndDie(node: { child: ChildProcess; url: string }, key: string): Promise<void> {
  const gone = once(node.child, 'exit');
  await fetch(`${node.url}/v1/tokenized/swap/transaction`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body()),
  }).catch(() => undefined);
  await gone;
}

async function repeat(key: string) {
  for (;;) {
    const reply = await order(key);
    if (reply.body.code !== 'idempotency_in_progress') return reply;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * The order cannot be written from here on; the node that tries is killed, and its statement with it, as if it had died
 * a moment before.
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
  for (const gate of [venueGate, rpcGate])
    Object.assign(gate, { before: () => undefined, after: () => undefined });
  return world.venue.state.attestations;
}

describe('a node that is killed', () => {
  test('before its order was written: the repeat is the first, and one attestation', async () => {
    const before = await reset();
    const node = await startNode();
    const isAttestation = venueGate.concerns;
    venueGate.concerns = (path) => path.startsWith('/v1/limits/trading');
    venueGate.before = async () => {
      await kill(node.child);
      return 'drop';
    };
    await askAndDie(node, 'early');
    venueGate.concerns = isAttestation;
    expect((await repeat('early')).status).toBe(200);
    expect(world.venue.state.attestations - before).toBe(1);
  }, 90_000);

  test('before the venue was asked: a clean refusal, and nothing is attested twice', async () => {
    const before = await reset();
    const node = await startNode();
    venueGate.before = async () => {
      await kill(node.child);
      return 'drop';
    };
    await askAndDie(node, 'before');
    const { status, body: reply } = await repeat('before');
    expect([status, reply.code]).toEqual([409, 'order_outstanding']);
    expect(world.venue.state.attestations - before).toBe(0);
  }, 90_000);

  test('after the venue answered and before it heard: a clean refusal, and one attestation', async () => {
    const before = await reset();
    const node = await startNode();
    venueGate.after = async () => {
      await kill(node.child);
      return 'drop';
    };
    await askAndDie(node, 'between');
    const { status, body: reply } = await repeat('between');
    expect([status, reply.code]).toEqual([409, 'order_outstanding']);
    expect((await order('another')).body.code).toBe('order_outstanding');
    expect(world.venue.state.attestations - before).toBe(1);
  }, 90_000);

  test('when it has heard the venue and not written it down: a clean refusal, and one attestation', async () => {
    const before = await reset();
    const node = await startNode();
    venueGate.after = () => killAtWrite(node);
    await askAndDie(node, 'unwritten');
    const { status, body: reply } = await repeat('unwritten');
    expect([status, reply.code]).toEqual([409, 'order_outstanding']);
    expect(world.venue.state.attestations - before).toBe(1);
  }, 90_000);

  test('after it has heard the venue: the calldata of that attestation, and no other', async () => {
    const before = await reset();
    const node = await startNode();
    const seen: string[] = [];
    rpcGate.before = async () => {
      seen.push('simulated');
      await kill(node.child);
      return 'drop';
    };
    await askAndDie(node, 'heard');
    expect(seen).toEqual(['simulated']);
    const first = await repeat('heard');
    expect([first.status, first.body.code]).toEqual([200, undefined]);
    expect((await order('heard')).body).toEqual(first.body);
    expect(world.venue.state.attestations - before).toBe(1);
    expect(
      await world.send(world.wallet.key, first.body.to as `0x${string}`, first.body.data as `0x${string}`),
    ).toBe('success');
  }, 90_000);

  test('when the calldata was tried and not given out: the calldata of that attestation', async () => {
    const before = await reset();
    const node = await startNode();
    rpcGate.after = () => killAtWrite(node);
    await askAndDie(node, 'tried');
    const first = await repeat('tried');
    expect([first.status, first.body.code]).toEqual([200, undefined]);
    expect((await order('tried')).body).toEqual(first.body);
    expect(world.venue.state.attestations - before).toBe(1);
  }, 90_000);

  test('after it has answered: the same answer from another node', async () => {
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

describe('a venue that does not answer', () => {
  test('keeps the place of its attestation, which is not asked for again, until it would be over', async () => {
    const before = await reset();
    const app = await testApp({
      databaseUrl: databaseUrl(),
      config: {
        ...world.app.ctx.config,
        venue: { url: venueGate.url, apiKey: world.venue.apiKey },
      },
    });
    try {
      app.clock.set(MARKET_OPEN);
      const user = await person(app);
      venueGate.after = () => 'drop';
      const ask = () =>
        user.call('POST', '/v1/tokenized/swap/transaction', body(), { 'idempotency-key': 'lost' });
      const lost = await ask();
      expect([lost.status, lost.body.code, lost.body.errors]).toEqual([
        503,
        'upstream_unavailable',
        { upstream: 'venue' },
      ]);
      expect((await ask()).body.code).toBe('order_outstanding');
      expect((await order('meanwhile')).body).toMatchObject({
        code: 'order_outstanding',
        errors: { expires_at: '2026-03-02T15:02:00.000000Z' },
      });
      expect(world.venue.state.attestations - before).toBe(1);
    } finally {
      await app.close();
    }
  });

  test('and a wallet that is not its own hears nothing of it', async () => {
    const reply = await world.user.call('POST', '/v1/tokenized/swap/transaction', {
      ...body(),
      wallet_address: evmWallet('stranger').address,
    });
    expect(reply.body.code).toBe('insufficient_balance');
  });
});
