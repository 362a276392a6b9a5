import { fundSwap } from '@causeway/contracts/abi/fund-swap.ts';
import { feeOnTransferToken } from '@causeway/contracts/abi/test/fee-on-transfer-token.ts';
import { issuerToken } from '@causeway/contracts/abi/test/issuer-token.ts';
import { otherFundSwap } from '@causeway/contracts/abi/test/other-fund-swap.ts';
import { otherSaleFund } from '@causeway/contracts/abi/test/other-sale-fund.ts';
import { otherTokenizedSwap } from '@causeway/contracts/abi/test/other-tokenized-swap.ts';
import { rebasingToken } from '@causeway/contracts/abi/test/rebasing-token.ts';
import { roles, testWallets } from '@causeway/sandbox/seed/keys.ts';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestChain, type TestChain, type TestNode } from '../../../test/support/chain.ts';
import { saleFile, tokenizedFile } from '../../../test/support/offers.ts';
import { type Chains, openChains } from '../../platform/chain/open-chains.ts';
import { checkContracts } from './contract-checks.ts';
import type { OfferFile } from './file-schema.ts';

let chain: TestChain;
let node: TestNode;
let chains: Chains;
let token: (assetId: string) => Hex;

beforeAll(async () => {
  chain = await startTestChain();
  node = await chain.addNode();
  chains = openChains({ urls: { ethereum_sepolia: [node.url] }, timeoutMs: 1_000 });
  token = (assetId) => chain.deployment.tokens.find(({ asset_id }) => asset_id === assetId)?.address ?? '0x';
});
afterAll(async () => {
  await chains.close();
  await chain.close();
});

type Contract = OfferFile['contracts'][number];

const digits = new Map([
  ['usd-coin', 6],
  ['harbour', 18],
  ['causeway-treasury-fund', 6],
]);
const operator = roles.operator.address;
const stranger = testWallets[0]?.address as Hex;

const check = (file: OfferFile, by: Hex | null = operator, supplier: Hex = roles.supplier.address) =>
  checkContracts(
    {
      chains,
      digits,
      addressOf: (role) => (role === 'supplier' ? supplier : by),
      solanaOperatorsOf: () => [],
    },
    file,
  );

function contract(change: Partial<Contract>): OfferFile['contracts'] {
  const funding_tokens = [{ asset: 'usd-coin', address: token('usd-coin') }];
  const plain = {
    chain: 'ethereum_sepolia',
    asset_address: null,
    allow_list: false,
    domain_name: null,
    vault: null,
  } as const;
  return [{ ...plain, address: '0x', funding_tokens, ...change }];
}

const sale = (change: Partial<Contract> = {}) =>
  saleFile({ contracts: contract({ address: chain.deployment.sale_funds.open, ...change }) });
const swap = (change: Partial<Contract> = {}) =>
  saleFile({
    type: 'fund::swap',
    asset: 'causeway-treasury-fund',
    contracts: contract({
      ...{ address: chain.deployment.fund_swap.address, allow_list: true },
      ...{ asset_address: token('causeway-treasury-fund'), ...change },
    }),
  });
const tokenized = (change: Partial<Contract> = {}, file: Partial<OfferFile> = {}) =>
  tokenizedFile({
    contracts: contract({
      address: chain.deployment.venue?.swap ?? '0x',
      asset_address: token('aaplon'),
      ...change,
    }),
    ...file,
  });

test('deployments that match the file pass, in both contract versions', async () => {
  const { older_fund_swap } = chain.deployment;
  expect(await check(sale())).toEqual([]);
  expect(await check(swap())).toEqual([]);
  expect(await check(swap({ address: older_fund_swap.address }))).toEqual([]);
  expect(await check(tokenized())).toEqual([]);
});

test('an address without code is reported', async () => {
  const empty = `0x${'12'.repeat(20)}`;
  for (const file of [sale({ address: empty }), swap({ address: empty }), tokenized({ address: empty })])
    expect(await check(file, null)).toContainEqual(
      expect.stringMatching(/contracts\.ethereum_sepolia\.address: no contract at this address$/),
    );
});

test('a contract of another type is reported', async () => {
  const { sale_funds, fund_swap } = chain.deployment;
  const wrong = /contracts\.ethereum_sepolia\.address: does not have the expected interface/;
  expect(await check(sale({ address: fund_swap.address }))).toContainEqual(expect.stringMatching(wrong));
  expect(await check(swap({ address: sale_funds.open }))).toContainEqual(expect.stringMatching(wrong));
  expect(await check(tokenized({ address: fund_swap.address }))).toContainEqual(expect.stringMatching(wrong));
});

test('the function that failed is named, and the views that the offer type needs', async () => {
  const { fund_swap } = chain.deployment;
  const [problem] = await check(sale({ address: fund_swap.address }));
  expect(problem).toMatch(/\(KIND\(\): reverted without a reason; minCommit\(\): reverted/);
  expect(problem).toMatch(
    /; platform::token_sale needs KIND\(\), minCommit\(\), id\(\), stopped\(\), totals\(address,bytes32,address\)$/,
  );
});

test('deployments of other generations pass', async () => {
  const name = 'Another Generation';
  const share = await chain.create(issuerToken, []);
  const fund = await chain.create(otherSaleFund, [operator]);
  const foreignSwap = await chain.create(otherFundSwap, [share, token('usd-coin')]);
  const manager = chain.deployment.venue?.manager as Hex;
  const foreignTokenized = await chain.create(otherTokenizedSwap, [manager, operator, name]);
  expect(await check(sale({ address: fund }))).toEqual([]);
  expect(await check(sale({ address: fund }), stranger)).toHaveLength(2);
  expect(await check(swap({ address: foreignSwap, asset_address: share }))).toEqual([]);
  expect(await check(tokenized({ address: foreignTokenized, domain_name: name }))).toEqual([]);
  expect(await check(tokenized({ address: foreignTokenized, domain_name: name }), stranger)).toEqual([]);
  expect(await check(tokenized({ address: foreignTokenized }))).toEqual([
    'harbour-stock: contracts.ethereum_sepolia.domain_name: is required: the contract has no eip712Domain()',
  ]);
});

test('a funding token that only the swap itself would refuse is reported', async () => {
  const share = await chain.create(issuerToken, []);
  const address = await chain.create(otherFundSwap, [share, token('tether')]);
  expect(await check(swap({ address, asset_address: share }))).toEqual([
    'harbour-sale: contracts.ethereum_sepolia.funding_tokens.usd-coin: the swap contract does not accept this token: inputTokens() is false',
  ]);
});

test('funding tokens with a fee or changing balances are reported', async () => {
  const fee = await chain.create(feeOnTransferToken, []);
  await chain.owner.writeContract({
    ...{ address: fee, abi: feeOnTransferToken.abi, functionName: 'mint', args: [stranger, 1_000n] },
  });
  const rebasing = await chain.create(rebasingToken, undefined);
  const fundedBy = (address: Hex) => sale({ funding_tokens: [{ asset: 'usd-coin', address }] });
  const at = 'harbour-sale: contracts.ethereum_sepolia.funding_tokens.usd-coin';
  const rule = 'only tokens with exact transfers can fund an offer';
  expect(await check(fundedBy(fee))).toEqual([
    `${at}: charges a fee on transfers: of 1000 sent, 990 arrive; ${rule}`,
  ]);
  expect(await check(fundedBy(rebasing))).toEqual([
    `${at}: is a rebasing token: it has sharesOf(address); ${rule}`,
  ]);
  expect(await check(fundedBy(token('tether')))).toEqual([]);
});

test('an allow-list that takes the permissions of another supplier is reported', async () => {
  expect(await check(swap(), operator, stranger)).toEqual([
    `harbour-sale: contracts.ethereum_sepolia.allow_list: the contract accepts permissions signed by ${roles.supplier.address.toLowerCase()}, not by ${stranger}`,
  ]);
});

test('a funding token whose decimals differ from its asset is reported', async () => {
  const funding_tokens = [{ asset: 'usd-coin', address: token('legacy-token') }];
  expect(await check(sale({ funding_tokens }))).toEqual([
    'harbour-sale: contracts.ethereum_sepolia.funding_tokens.usd-coin: the token has 18 decimals, but usd-coin has 6 fractional digits',
  ]);
});

test('a funding token that the swap does not accept is reported', async () => {
  const other = await chain.create(feeOnTransferToken, []);
  const problems = await check(swap({ funding_tokens: [{ asset: 'usd-coin', address: other }] }));
  expect(problems).toContainEqual(expect.stringContaining('TokenNotTaken'));
});

test('a swap that pays out another token is reported', async () => {
  const problems = await check(swap({ asset_address: token('usd-coin') }));
  expect(problems).toEqual([
    `harbour-sale: contracts.ethereum_sepolia.address: pays out ${token('causeway-treasury-fund')}, but asset_address is ${token('usd-coin')}`,
  ]);
});

test('an operator without its roles is reported; without an operator the roles are not checked', async () => {
  expect(await check(sale(), stranger)).toEqual([
    `harbour-sale: contracts.ethereum_sepolia.operator: the operator ${stranger} does not have the commit role, which the commit key needs; the fund's owner must grant it`,
    `harbour-sale: contracts.ethereum_sepolia.operator: the operator ${stranger} does not have the remit role, which the refund key needs; the fund's owner must grant it`,
  ]);
  expect(await check(tokenized(), stranger)).toEqual([expect.stringContaining(`not by ${stranger}`)]);
  expect(await check(sale(), null)).toEqual([]);
});

test('a fee that differs from the contract is reported', async () => {
  expect(await check(tokenized({}, { fee_bps: 51 }))).toEqual([
    expect.stringContaining(
      "contracts.ethereum_sepolia.fee_bps: the contract's fee is 50 basis points, but fee_bps is 51",
    ),
  ]);
  expect(await check({ ...swap(), fee_bps: 50 })).toEqual([]);
  expect(await check({ ...swap(), fee_bps: 51 })).toEqual([
    'harbour-sale: contracts.ethereum_sepolia.funding_tokens.usd-coin: the contract takes a fee of 50 basis points, but fee_bps is 51',
  ]);
});

test('an allow-list that is not one, or that allows every wallet, is reported', async () => {
  const { market } = chain.deployment.fund_swap;
  const owner = roles.owner.address;
  const parts = {
    owner,
    market,
    feeRecipient: owner,
    feeBps: 0n,
    supplier: `0x${'00'.repeat(20)}` as Hex,
    swapLevel: 2,
  };
  const open = await chain.create(fundSwap, [parts]);
  expect(await check(tokenized({ allow_list: chain.deployment.fund_swap.address }))).toEqual([]);
  expect(await check(tokenized({ allow_list: open }))).toEqual([
    'harbour-stock: contracts.ethereum_sepolia.allow_list: the contract allows every wallet, so there is no allow-list',
  ]);
  expect(await check(tokenized({ allow_list: token('usd-coin') }))).toContainEqual(
    expect.stringMatching(/allow_list: does not have the expected interface/),
  );
});

test('a chain without a reachable node is reported', async () => {
  expect(await check(sale({ chain: 'base_sepolia' }))).toEqual([
    'harbour-sale: contracts.base_sepolia: cannot be checked: RPC_URL_BASE_SEPOLIA is not set',
  ]);
  node.fault.set('down');
  try {
    expect(await check(sale())).toContainEqual(
      expect.stringContaining('address: An external service is unavailable. Try again later.'),
    );
  } finally {
    node.fault.set('none');
  }
});
