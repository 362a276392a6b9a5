import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeOffer } from '../src/domain/offer-files/lifecycle.ts';
import { realClock } from '../src/kernel/clock.ts';
import { freePort } from '../src/platform/http/listening.ts';
import { createTestDatabase, type TestDatabase } from './setup/database.ts';
import { type TestApp, testApp } from './support/app.ts';
import { makeOffer, saleFile } from './support/offers.ts';
import { type Service, startService } from './support/service.ts';
import {
  type Answer,
  evmWallet,
  type Person,
  personWith,
  solanaWallet,
  type TestWallet,
  userId,
} from './support/wallets.ts';

const folders: string[] = [];
const connections = new Agent({ connections: 300 });
const SHED_RETRY_MS = 200;
let database: TestDatabase;
/** Two processes on one database, as in production. */
let services: { service: Service; url: string }[];
/** A third node, in this process, which creates the offers. */
let setup: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  services = await Promise.all([startNode(), startNode()]);
  setup = await testApp({ databaseUrl: database.url });
}, 120_000);
afterAll(async () => {
  await connections.close();
  await setup.close();
  for (const { service } of services) await service.discard();
  await database.drop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => setup.ctx.db.deleteFrom('option_addresses').execute());

async function startNode() {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-races-'));
  folders.push(folder);
  const port = await freePort();
  const service = await startService({
    CAUSEWAY_PROFILE: 'production',
    SANCTIONS: 'none',
    CAUSEWAY_SECRET: createHash('sha256').update('test').digest('base64'),
    CAUSEWAY_DATA: folder,
    DATABASE_URL: database.url,
    DATABASE_POOL: '20',
    PUBLIC_URL: 'https://causeway.test',
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'no-reply@causeway.test',
    SUMSUB_URL: 'https://127.0.0.1:9',
    SUMSUB_APP_TOKEN: 'prd:token',
    SUMSUB_SECRET: 'secret',
    SUMSUB_WEBHOOK_SECRET: 'secret',
    DOCUSEAL_URL: 'https://127.0.0.1:9',
    DOCUSEAL_API_KEY: 'key',
    DOCUSEAL_TEMPLATE_W8_BEN: '1',
    DOCUSEAL_TEMPLATE_W8_BEN_E: '2',
    DOCUSEAL_WEBHOOK_SECRET: 'whsec_secret',
    PORT: String(port),
    METRICS_PORT: '0',
    RATE_LIMIT_API: '1000000',
    RATE_LIMIT_WALLET_OWNERSHIP: '1000000',
  });
  return { service, url: `http://127.0.0.1:${port}` };
}

/** Creates a user whose requests alternate between the two processes. */
async function newUser(n: number): Promise<Person> {
  const token = await setup.tokenFor({ userId: userId(n) });
  let turn = 0;
  const send: Person['call'] = async (method, path, body) => {
    const reply = await request(`${services[turn++ % 2]?.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      dispatcher: connections,
    });
    return { status: reply.statusCode, body: (await reply.body.json()) as Answer['body'] };
  };
  // A saturated node refuses a request before doing anything, so clients can repeat it.
  return personWith(async (...call) => {
    let answer = await send(...call);
    while (answer.status === 503 && answer.body.code === 'unavailable') {
      await sleep(SHED_RETRY_MS);
      answer = await send(...call);
    }
    return answer;
  });
}

async function offerWith(slug: string, maxWallets: number | null) {
  const requirements =
    maxWallets === null ? [] : [{ type: 'whitelisted_wallet', details: { max_wallets: maxWallets } }];
  const offer = await makeOffer(
    setup.ctx,
    saleFile({ slug, options: [{ slug: 'only', requirements }] as never }),
  );
  const option = offer.options[0]?.id ?? '';
  const reader = await newUser(0);
  const statuses = () =>
    Promise.all(
      services.map(async () => (await reader.call('GET', `/v1/offers/${offer.id}/addresses`)).status),
    );
  // Makes two calls, one to each process, because each process must have been notified of the offer.
  await expect.poll(statuses, { timeout: 10_000 }).toEqual([200, 200]);
  const rows = () =>
    setup.ctx.db.selectFrom('option_addresses').selectAll().where('option_id', '=', option).execute();
  return { id: offer.id, option, rows };
}

async function signed(user: Person, wallets: TestWallet[]) {
  return Promise.all(
    wallets.map(async (wallet) => ({
      wallet,
      signature: String(await wallet.sign(await user.challenge(wallet))),
    })),
  );
}

const many = (count: number, name: string) =>
  Array.from({ length: count }, (_, n) => evmWallet(`${name} ${n}`));

function tally(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const key = status === 200 ? 'ok' : String(body.code);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

describe('two processes on one database', { timeout: 120_000 }, () => {
  test('accept one of 500 parallel uses of a challenge', async () => {
    const offer = await offerWith('one-challenge', null);
    const user = await newUser(1);
    for (const wallet of [evmWallet('one'), solanaWallet('one')]) {
      const signature = String(await wallet.sign(await user.challenge(wallet)));
      const answers = await Promise.all(
        Array.from({ length: 500 }, () => user.connect(offer.id, offer.option, wallet, signature)),
      );
      expect(tally(answers)).toEqual({ ok: 1, challenge_invalid: 499 });
    }
    expect(await offer.rows()).toHaveLength(2);
  });

  test('bind exactly three of 500 wallets with max_wallets 3', async () => {
    const offer = await offerWith('three-wallets', 3);
    const user = await newUser(2);
    const proofs = await signed(user, many(500, 'capped'));
    const answers = await Promise.all(
      proofs.map(({ wallet, signature }) => user.connect(offer.id, offer.option, wallet, signature)),
    );
    expect(tally(answers)).toEqual({ ok: 3, max_wallets_reached: 497 });
    expect(await offer.rows()).toHaveLength(3);
  });

  test('keep one row, id and creation time under parallel replacements', async () => {
    const offer = await offerWith('in-place', null);
    const user = await newUser(3);
    const proofs = await signed(user, many(200, 'in place'));
    const answers = await Promise.all(
      proofs.map(({ wallet, signature }) => user.connect(offer.id, offer.option, wallet, signature)),
    );
    expect(tally(answers)).toEqual({ ok: 200 });
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.created_at)).size).toBe(1);
    expect(await offer.rows()).toHaveLength(1);
  });

  test('bind an address to one of many concurrent users', async () => {
    const offer = await offerWith('one-address', null);
    const wallet = evmWallet('shared');
    const users = await Promise.all(Array.from({ length: 40 }, (_, n) => newUser(100 + n)));
    const answers = await Promise.all(users.map((user) => user.bind(offer.id, offer.option, wallet)));
    // Between proving the wallet and binding it, a user may lose the wallet to another user's later proof.
    const { ok = 0, wallet_not_proven = 0, ...rest } = tally(answers);
    expect([ok + wallet_not_proven, rest]).toEqual([40, {}]);
    expect(ok).toBeGreaterThan(0);
    const [row, ...others] = await offer.rows();
    expect(others).toEqual([]);
    const proofs = await setup.ctx.db
      .selectFrom('wallet_proofs')
      .select('user_id')
      .where('address', '=', wallet.address)
      .execute();
    expect(proofs).toEqual([{ user_id: row?.user_id }]);
  });

  test('let two users swap wallets without deadlock or sharing', async () => {
    const offer = await offerWith('swapped', null);
    const users = await Promise.all([newUser(4), newUser(5)]);
    const wallets = [evmWallet('left'), evmWallet('right')];
    for (let round = 0; round < 25; round++) {
      const answers = await Promise.all(
        users.map((user, n) => user.bind(offer.id, offer.option, wallets[(n + round) % 2] as TestWallet)),
      );
      for (const { status, body } of answers)
        expect([200, 'wallet_not_proven', 'wallet_already_bound']).toContain(
          status === 200 ? 200 : body.code,
        );
      const rows = await offer.rows();
      expect(new Set(rows.map(({ address }) => address)).size).toBe(rows.length);
    }
  });

  test('apply no bind or delete after the offer has ended', async () => {
    for (let round = 0; round < 4; round++) {
      const offer = await offerWith(`ending-${round}`, null);
      const user = await newUser(6);
      const [first, ...rest] = await signed(user, many(60, `ending ${round}`));
      if (first === undefined) throw new Error('no wallet');
      const start = await user.connect(offer.id, offer.option, first.wallet, first.signature);
      const binds = rest.map(({ wallet, signature }) =>
        user.connect(offer.id, offer.option, wallet, signature),
      );
      // Some wallets are deleted while others are being bound.
      const deletes = Array.from({ length: 30 }, async (): Promise<Answer> => {
        const { body } = await user.call('GET', `/v1/offers/${offer.id}/addresses`);
        const [found] = body.data as { id: string }[];
        return user.call('DELETE', `/v1/offers/${offer.id}/addresses/${found?.id ?? 'none'}`);
      });
      const closing = Promise.race([Promise.all(binds.slice(0, 20)), Promise.all(deletes.slice(0, 10))]).then(
        () => closeOffer({ ...setup.ctx, clock: realClock() }, `ending-${round}`, 'sold'),
      );
      const [bound, deleted] = await Promise.all([Promise.all(binds), Promise.all(deletes), closing]);
      expect(Object.keys(tally(bound)).filter((key) => !['ok', 'offer_ended'].includes(key))).toEqual([]);
      expect(
        Object.keys(tally(deleted)).filter((key) => !['ok', 'not_found', 'offer_ended'].includes(key)),
      ).toEqual([]);
      const removed = deleted.filter(({ status }) => status === 200).map(({ body }) => body.id);
      expect(new Set(removed).size).toBe(removed.length);
      const made = new Set(
        [start, ...bound].filter(({ status }) => status === 200).map(({ body }) => body.id),
      );
      const left = [...made].filter((id) => !removed.includes(id));
      expect((await offer.rows()).map(({ id }) => id)).toEqual(left);
      expect(left.length).toBeLessThanOrEqual(1);
      expect(tally([await user.bind(offer.id, offer.option, evmWallet('late'))])).toEqual({ offer_ended: 1 });
    }
  });
});
