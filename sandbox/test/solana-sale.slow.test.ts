import { createPrivateKey, sign } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  encodeMessage,
  encodeTransaction,
  readonly,
  signer,
  writable,
} from '@causeway/contracts/encodings/solana-message.ts';
import { base58 } from '@scure/base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../service/test/support/service.ts';
import { associatedAccount } from '../src/simulators/solana/derived-address.ts';
import { TOKEN_PROGRAM } from '../src/simulators/solana/programs.ts';

const chain = 'solana_devnet';
let service: Service;
let dataDir: string;
let overview: {
  chains: { chain: string; rpc_url: string; tokens: { address: string }[] }[];
  wallets: { address: string; private_key: string; protocol: string }[];
  offers: { id: string; type: string; state: string; options: { id: string; requirements: string[] }[] }[];
  users: { email: string }[];
  partner: { client_id: string };
};

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'causeway-sandbox-'));
  service = await startService({ CAUSEWAY_DATA: dataDir });
  overview = (await (await fetch(`${service.url}/sandbox`)).json()) as typeof overview;
});
afterAll(async () => {
  await service.discard();
  await rm(dataDir, { recursive: true, force: true });
});

async function call(path: string, token: string | null, body?: unknown) {
  const reply = await fetch(`${service.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await reply.json()) as Record<string, unknown>;
  if (reply.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer;
}

async function rpc(method: string, params: unknown[]) {
  const url = overview.chains.find((each) => each.chain === chain)?.rpc_url ?? '';
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return ((await reply.json()) as { result: unknown }).result;
}

async function statusOf(id: string, token: string, wanted: string): Promise<string> {
  for (let i = 0; i < 240; i++) {
    const { status } = await call(`/v1/participations/${id}`, token);
    if (status === wanted) return wanted;
    await sleep(250);
  }
  return 'too late';
}

test('a user invests on Solana in the seeded sale and gets a refund', async () => {
  const sale = overview.offers.find(({ type, state }) => type === 'platform::token_sale' && state === 'open');
  const option = sale?.options.find(({ requirements }) => requirements.length === 0);
  const wallet = overview.wallets.find(({ protocol }) => protocol === 'solana');
  if (!sale || !option || !wallet) throw new Error('the sandbox lacks the sale');
  const token = String(
    (await call('/sandbox/token', null, { email: overview.users[0]?.email })).access_token,
  );
  const { contracts } = await call(`/v1/offers/${sale.id}`, token);
  const contract = (contracts as { chain: string; kind: string; address: string }[]).find(
    (each) => each.chain === chain,
  );
  expect(contract?.kind).toBe('fund');

  const secret = base58.decode(wallet.private_key);
  const key = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), secret.subarray(0, 32)]),
    format: 'der',
    type: 'pkcs8',
  });
  const challenge = await call('/v1/wallet-ownership', token, { wallet_address: wallet.address, chain });
  await call(`/v1/offers/${sale.id}/addresses`, token, {
    chain,
    offer_option_id: option.id,
    wallet_address: wallet.address,
    signature: base58.encode(sign(null, Buffer.from(String(challenge.message)), key)),
  });

  const owner = base58.decode(wallet.address);
  const mint = base58.decode(overview.chains.find((each) => each.chain === chain)?.tokens[0]?.address ?? '');
  const data = Buffer.alloc(10);
  data.writeUInt8(13, 0);
  data.writeBigUInt64LE(25_000_000n, 1);
  data.writeUInt8(6, 9);
  const latest = await rpc('getLatestBlockhash', [{ commitment: 'confirmed' }]);
  const { blockhash } = (latest as { value: { blockhash: string } }).value;
  const message = encodeMessage({
    feePayer: owner,
    blockhash: base58.decode(blockhash),
    instructions: [
      {
        program: TOKEN_PROGRAM,
        accounts: [
          writable(associatedAccount(owner, mint)),
          readonly(mint),
          readonly(base58.decode(contract?.address ?? '')),
          signer(owner, false),
        ],
        data,
      },
    ],
  });
  const raw = encodeTransaction(message, [sign(null, message, key)]);
  const hash = await rpc('sendTransaction', [
    Buffer.from(raw).toString('base64'),
    { encoding: 'base64', preflightCommitment: 'confirmed' },
  ]);
  const { id } = await call('/v1/participations', token, {
    offer_id: sale.id,
    offer_option_id: option.id,
    chain,
    wallet_address: wallet.address,
    amount: '25000000',
    asset_id: 'usd-coin',
    approval_transaction_hash: hash,
  });
  expect(await statusOf(String(id), token, 'completed')).toBe('completed');
  await call(`/sandbox/participations/${id}/remit`, null, {});
  expect(await statusOf(String(id), token, 'remitted')).toBe('remitted');
}, 150_000);
