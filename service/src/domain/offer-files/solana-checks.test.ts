import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { expect, test } from 'vitest';
import { saleFile } from '../../../test/support/offers.ts';
import { setTokenAccount } from '../../../test/support/solana-accounts.ts';
import { freezeOrThaw, MINT } from '../../../test/support/solana-instructions.ts';
import {
  FUND,
  faucetKey,
  solanaKey,
  solanaSaleFile,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { associatedAccount } from '../../platform/chain/solana/addresses.ts';
import { localSolanaSigner } from '../../platform/operator/solana-signer.ts';
import { createFund } from '../settlement/solana-fund.ts';
import { checkContracts } from './contract-checks.ts';
import { OfferFileError } from './file.ts';
import type { OfferFile } from './file-schema.ts';

const sale = useSolanaSale();

async function check(change: object, ...operators: string[]) {
  const file = solanaSaleFile();
  const contracts = [{ ...file.contracts[0], ...change }] as OfferFile['contracts'];
  const warnings: string[] = [];
  const digits = new Map([['usd-coin', 6]]);
  const solanaOperatorsOf = () => [solanaRoles.operator.address, ...operators];
  const parts = { chains: sale.app.ctx.chains, digits, addressOf: () => null, solanaOperatorsOf };
  const problems = await checkContracts(
    { ...parts, warn: (text) => void warnings.push(text) },
    { ...file, contracts },
  );
  return { problems, warnings };
}

test('a fund with our key, a vault of a cold wallet and a classic mint are accepted', async () => {
  expect(await check({})).toEqual({ problems: [], warnings: [] });
});

test('a fund without one of our keys, or another account, is refused', async () => {
  expect((await check({}, solanaRoles.standby.address)).problems).toEqual([]);
  const stranger = solanaKey('stranger').address;
  const { problems } = await check({}, stranger);
  expect(problems).toEqual([expect.stringContaining(`${stranger} is not one of the signers`)]);
  expect((await check({ address: MINT })).problems).toEqual([
    expect.stringContaining('not a multisig account'),
  ]);
});

test('another program’s mint and wrong decimals are refused', async () => {
  const token = (address: string) => ({ funding_tokens: [{ asset: 'usd-coin', address }] });
  expect((await check(token(VAULT))).problems[0]).toContain('not a mint of the classic token program');
  const file = solanaSaleFile();
  const parts = { chains: sale.app.ctx.chains, addressOf: () => null, solanaOperatorsOf: () => [] };
  const problems = await checkContracts({ ...parts, digits: new Map([['usd-coin', 9]]) }, file);
  expect(problems).toEqual([expect.stringContaining('the mint has 6 decimals')]);
});

test('an endpoint of another cluster is named with its setting', async () => {
  const { chains } = sale.app.ctx;
  const solana = (name: string) => {
    const chain = chains.solana(name);
    return { ...chain, facts: { ...chain.facts, genesisHash: 'another' } };
  };
  const parts = { chains: { ...chains, solana }, addressOf: () => null, solanaOperatorsOf: () => [] };
  const file = solanaSaleFile();
  const [problem] = await checkContracts({ ...parts, digits: new Map() }, file);
  expect(problem).toContain(`${file.slug}: contracts.solana_devnet: RPC_URL_SOLANA_DEVNET: the endpoint`);
});

test('a vault that is not an associated account, is frozen or cannot refund is reported', async () => {
  const owner = solanaKey('cold wallet').address;
  const [plain, own] = [solanaKey('plain').address, associatedAccount(owner, MINT)];
  setTokenAccount(sale.solana, plain, owner, 0n);
  setTokenAccount(sale.solana, own, owner, UNIT);
  expect((await check({ vault: plain })).problems[0]).toContain('is not the associated account of its owner');
  expect(await check({ vault: own })).toEqual({
    problems: [],
    warnings: [expect.stringContaining('no refund allowance')],
  });
  sale.land(faucetKey, [freezeOrThaw(10, own)]);
  sale.mine(2);
  expect((await check({ vault: own })).problems[0]).toContain('is frozen');
  expect((await check({ vault: FUND })).problems[0]).toContain('is not a token account');
});

test('a file with the addresses or fields of another protocol is refused', () => {
  const contract = solanaSaleFile().contracts[0];
  const evm = `0x${'ab'.repeat(20)}`;
  for (const change of [
    { address: evm },
    { vault: null },
    { vault: evm },
    { chain: 'ethereum_sepolia' },
    { allow_list: true },
  ])
    expect(() => saleFile({ contracts: [{ ...contract, ...change }] as never })).toThrow(OfferFileError);
  expect(() => saleFile({ type: 'fund::swap', contracts: [contract] as never })).toThrow(OfferFileError);
});

test.each([
  ['no minimum purchase', {}],
  ['a minimum purchase of 0', { minimum_purchase_usd: '0.00' }],
])('a file whose option has %s is refused, because every participation costs SOL', (_, option) => {
  const { contracts, options } = solanaSaleFile();
  const change = { contracts, options: [...options, { slug: 'second', ...option }] as never };
  expect(() => saleFile(change)).toThrow('options.1.minimum_purchase_usd: is required on Solana');
  expect(() => saleFile({ options: change.options })).not.toThrow();
});

test('a purchase of dust is refused', async () => {
  const buyer = await sale.buyer('dust');
  const { status, body } = await sale.post(buyer, 1n, sale.approve(buyer, 1n));
  expect([status, body.errors]).toEqual([422, { amount: ['is below the minimum purchase of 0.01 USD'] }]);
});

test('offer details show the fund with its exact spelling', async () => {
  const { body } = await sale.person.call('GET', `/v1/offers/${sale.offer.id}`);
  expect(body.contracts).toEqual([
    {
      chain: 'solana_devnet',
      kind: 'fund',
      address: FUND,
      asset_address: null,
      allow_list_address: null,
      funding_tokens: [{ asset_id: 'usd-coin', address: MINT, decimals: 6 }],
    },
  ]);
});

test('a fund account is created once, for the keys of both roles and a standby key', async () => {
  const chain = sale.app.ctx.chains.solana('solana_devnet');
  const signer = localSolanaSigner(solanaRoles.operator.seed);
  const [refund, standby] = [solanaKey('refund').address, solanaKey('standby').address];
  sale.solana.chain.setSlotMs(50);
  const fund = await createFund(chain, signer, 'another-sale', [refund, standby]);
  expect((await check({ address: fund }, refund, standby)).problems).toEqual([]);
  expect(await createFund(chain, signer, 'another-sale', [refund, standby])).toBe(fund);
  await expect(createFund(chain, signer, 'another-sale', [solanaKey('other').address])).rejects.toThrow(
    'other signers',
  );
  sale.solana.chain.setSlotMs(0);
});
