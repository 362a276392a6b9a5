import { randomBytes } from 'node:crypto';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashPassword } from '../src/domain/accounts/password.ts';
import { throttleAttempt } from '../src/domain/accounts/throttle.ts';
import { unsubscribeUrl } from '../src/domain/notices/preferences.ts';
import { rememberOwner } from '../src/domain/proofs/owner-hashes.ts';
import { recordProof } from '../src/domain/proofs/proof.ts';
import { rotateSecrets } from '../src/edges/cli/keys-command.ts';
import { apiRoutes } from '../src/edges/routes.ts';
import { sealAuditLog } from '../src/platform/audit/sealer.ts';
import { recordCommand } from '../src/platform/audit/store.ts';
import { verifyAuditLog } from '../src/platform/audit/verify.ts';
import { createTestDatabase, type TestDatabase } from './setup/database.ts';
import { TEST_SECRET } from './setup/secret.ts';
import { type TestApp, testApp, testConfig } from './support/app.ts';
import { createThings, thingRoutes } from './support/things.ts';
import { makeUser, partnerOf, REDIRECT, USER } from './support/tokens.ts';
import { newVisitor } from './support/visitor.ts';

const OLD = TEST_SECRET;
const NEW = randomBytes(32);
const NEWEST = randomBytes(32);
const SOURCE = { device: 'x', network: '192.0.2.1', browser: null };
const PASSWORD = 'quiet harbour lantern';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const startNode = (secrets: Buffer[]) =>
  testApp({
    routes: [...apiRoutes, ...thingRoutes],
    databaseUrl: database.url,
    config: {
      secrets,
      webhookAllowCidrs: ['127.0.0.0/8'],
      limits: { ...testConfig().limits, account_forms: 10_000, sign_in: 1000 },
    },
  });

type Node = TestApp & { open: Set<Promise<unknown>> };

/** Starts two nodes behind a load balancer that sends requests to the running nodes in turn. */
async function startCluster(secrets: Buffer[]) {
  const nodes: Node[] = [];
  let turn = 0;
  const add = async (list: Buffer[]) => void nodes.push({ ...(await startNode(list)), open: new Set() });
  const next = (): Node => {
    const node = nodes[turn++ % nodes.length];
    if (node === undefined) throw new Error('no node in service');
    return node;
  };
  await add(secrets);
  await add(secrets);
  return {
    next,
    inject: (options: InjectOptions) => {
      const node = next();
      const reply = node.app.inject(options);
      node.open.add(reply);
      void reply.finally(() => node.open.delete(reply));
      return reply;
    },
    /** Restarts the nodes one by one. */
    restart: async (list: Buffer[]) => {
      for (let i = 0; i < 2; i++) {
        const stopping = nodes.shift();
        await Promise.allSettled([...(stopping?.open ?? [])]);
        await stopping?.close();
        await add(list);
      }
    },
    close: () => Promise.all(nodes.map((node) => node.close())),
  };
}

test('the secret is rotated on a running cluster without a failed request or a lost sign-in', async () => {
  const cluster = await startCluster([OLD]);
  const { ctx } = cluster.next();
  await createThings(ctx);
  const token = await cluster.next().tokenFor({});
  const userId = '01890000-0000-7000-8000-0000000000c1';
  await makeUser(ctx, userId, 'ada@user.test');
  await ctx.db
    .updateTable('users')
    .set({ password_hash: await hashPassword(ctx, PASSWORD) })
    .where('id', '=', userId)
    .execute();
  const authorization = `Bearer ${token}`;
  const visitor = newVisitor({ inject: cluster.inject } as unknown as FastifyInstance);
  await visitor.open('/sign-in');
  expect((await visitor.post('/sign-in', { email: 'ada@user.test', password: PASSWORD })).statusCode).toBe(
    303,
  );

  let isRunning = true;
  let rounds = 0;
  const traffic = (async () => {
    for (; isRunning; rounds++) await sendRound(cluster.inject, authorization, rounds);
  })();
  const authorizeUrl = `/oauth/authorize?${new URLSearchParams({
    response_type: 'code',
    client_id: 'partner-one',
    redirect_uri: REDIRECT,
    scope: 'openid offers:read',
    state: 'x',
    prompt: 'consent',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeGt5HMWYuYyX7GO2Hzs',
    code_challenge_method: 'S256',
  })}`;
  /** Starts a sign-in, restarts both nodes with other secrets, and finishes the sign-in. */
  const restartDuringSignIn = async (secrets: Buffer[]) => {
    const consent = await visitor.open(authorizeUrl);
    const path = /action="(\/interaction\/[^"]+)"/.exec(consent.body)?.[1] ?? '';
    await cluster.restart(secrets);
    let { location = '' } = (await visitor.post(path, { decision: 'allow' })).headers;
    while (!location.startsWith(REDIRECT)) {
      const { pathname, search } = new URL(location, 'http://causeway.test');
      ({ location = '' } = (await visitor.get(pathname + search)).headers);
    }
    expect(new URL(location).searchParams.get('code')).not.toBeNull();
  };
  try {
    await restartDuringSignIn([OLD, NEW]);
    await restartDuringSignIn([NEW, OLD]);
    await rotateSecrets(cluster.next().ctx);
    await restartDuringSignIn([NEW]);
  } finally {
    isRunning = false;
    await traffic;
    await cluster.close();
  }
  expect(rounds).toBeGreaterThan(3);
});

/** Acts as a client that uses values from one reply in the next request, which another node answers. */
async function sendRound(
  inject: (options: InjectOptions) => Promise<LightMyRequestResponse>,
  authorization: string,
  round: number,
): Promise<void> {
  const post = () =>
    inject({
      method: 'POST',
      url: '/v1/things',
      payload: { name: `round ${round}` },
      headers: { authorization, 'idempotency-key': `round-${round}` },
    });
  const first = await post();
  const again = await post();
  expect([first.statusCode, again.statusCode, again.headers['idempotent-replayed']]).toEqual([
    200,
    200,
    'true',
  ]);
  const list = (query: string) => inject({ url: `/v1/things?limit=1${query}`, headers: { authorization } });
  const page = await list('');
  const cursor = page.json().starting_after;
  if (cursor !== undefined) expect((await list(`&starting_after=${cursor}`)).statusCode).toBe(200);
}

test('failed sign-ins count across nodes with different newest secrets', async () => {
  const [one, two] = await Promise.all([startNode([OLD, NEW]), startNode([NEW, OLD])]);
  for (let i = 0; i < 25; i++) {
    await throttleAttempt(one.ctx, 'eve@user.test', SOURCE);
    await throttleAttempt(two.ctx, 'eve@user.test', SOURCE);
  }
  for (const node of [one, two])
    await expect(throttleAttempt(node.ctx, 'eve@user.test', SOURCE)).rejects.toThrow(/too many/i);
  await Promise.all([one.close(), two.close()]);
});

test('wallets of held accounts, webhook secrets, checkpoints and unsubscribe links outlive the secret that they were made with', async () => {
  const address = '0x00000000000000000000000000000000000000a1';
  const held = '01890000-0000-7000-8000-0000000000c2';
  const before = await startNode([OLD]);
  const bearer = `Bearer ${await before.tokenFor({ userId: null })}`;
  await makeUser(before.ctx, held);
  await rememberOwner(before.ctx, before.ctx.db, held, address);
  await before.ctx.db
    .updateTable('users')
    .set({ held_at: new Date().toISOString() })
    .where('id', '=', held)
    .execute();
  const created = await before.app.inject({
    method: 'POST',
    url: '/v1/webhook-endpoints',
    headers: { authorization: bearer },
    payload: { url: 'http://127.0.0.1:49998/', types: ['*'] },
  });
  expect(created.statusCode).toBe(200);
  await recordCommand(before.ctx.db, 'test');
  await sealAuditLog(before.ctx, 0);
  const { pathname, search } = new URL(unsubscribeUrl(before.ctx, held, 'reminders'));
  await before.close();

  const promoted = await startNode([NEW, OLD]);
  await rotateSecrets(promoted.ctx);
  // The second rotation no longer has the oldest secret, only the keys that the first rotation derived from it and
  // stored.
  const newest = await startNode([NEWEST, NEW]);
  await rotateSecrets(newest.ctx);
  await Promise.all([promoted.close(), newest.close()]);

  const after = await startNode([NEWEST]);
  const unsubscribe = (url: string) =>
    after.app.inject({
      ...{ method: 'POST', url, payload: 'List-Unsubscribe=One-Click' },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  expect((await unsubscribe(`${pathname}${search}`.replace('reminders', 'forms'))).statusCode).toBe(404);
  expect((await unsubscribe(`${pathname}${search}`)).statusCode).toBe(200);
  const optOuts = await after.ctx.db.selectFrom('notice_opt_outs').selectAll().execute();
  expect(optOuts).toEqual([{ user_id: held, topic: 'reminders' }]);
  expect(await verifyAuditLog(after.ctx)).toMatchObject({ checkpoints: 1, problem: null });
  const row = await after.ctx.db.selectFrom('webhook_endpoints').selectAll().executeTakeFirstOrThrow();
  const secret = after.ctx.sealing.open('webhook secret', row.sealed_secret, row.id).toString();
  expect(secret).toBe(created.json().secret);
  const caller = await after.ctx.guard.check(await after.tokenFor({ userId: USER }));
  const proof = {
    chain: 'ethereum_sepolia' as const,
    address,
    text: '',
    signature: '',
    kind: 'key' as const,
  };
  await expect(
    recordProof(after.ctx, { ...caller, partnerId: partnerOf('partner-one'), userId: USER } as never, proof),
  ).rejects.toMatchObject({ code: 'wallet_restricted' });
  await after.close();
});
