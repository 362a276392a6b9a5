import { setTimeout as sleep } from 'node:timers/promises';
import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { makeOffer } from '../../../test/support/offers.ts';
import { appleFile, startTokenizedWorld, type TokenizedWorld } from '../../../test/support/venue.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';
import type { ContractProblem } from '../../kernel/model/stored-offer.ts';
import { setContractProblem } from '../offers/store.ts';
import { type ContractGauges, createContractGauges, watchContracts } from './contract-watch.ts';

let world: TokenizedWorld;
let gauges: ContractGauges;
beforeAll(async () => {
  world = await startTokenizedWorld();
  gauges = createContractGauges(world.app.ctx);
});
afterAll(() => world.close());
afterEach(() => world.node.fault.set('none'));

const alerts = async (gauge: ContractGauges['unreadable']) =>
  (await gauge.get()).values.map(({ labels, value }) => [labels.offer, labels.chain, value]);
const unreadable = () => alerts(gauges.unreadable);
const order = () =>
  world.user.call('POST', '/v1/tokenized/swap/transaction', {
    ...{ amount: '1005000000', chain: 'ethereum_sepolia', symbol: 'AAPLon' },
    wallet_address: world.wallet.address,
  });
const tradable = async () =>
  (await world.user.call('GET', '/v1/tokenized/swap/trading-status?symbol=AAPLon&side=buy')).body.tradable;

/** Points the offer at another contract, and waits until the node has been notified of the change. */
async function moveOffer(address: string): Promise<void> {
  const { deployment, usdc, app } = world;
  const file = appleFile(deployment, usdc);
  const contracts = file.contracts.map((contract) => ({ ...contract, address }));
  await app.ctx.db.deleteFrom('tokenized_orders').execute();
  await makeOffer(app.ctx, { ...file, contracts });
  await untilContract(({ address: current }) => current === address);
}

async function untilContract(holds: (contract: { address: string; unreadable: unknown }) => boolean) {
  const { app, offer } = world;
  for (;;) {
    const { byKey } = await app.ctx.offers.of('01890000-0000-7000-8000-000000000001');
    const contract = byKey.get(offer.id)?.contracts[0];
    if (contract !== undefined && holds(contract)) return;
    await sleep(5);
  }
}

test('a readable contract is no alert', async () => {
  await watchContracts(world.app.ctx, gauges);
  expect(await unreadable()).toEqual([]);
  expect(await tradable()).toBe(true);
});

test('an offer whose contract cannot be read is disabled with an alert, and enabled once it can be read', async () => {
  const { app, deployment } = world;
  await moveOffer(`0x${'12'.repeat(20)}`);
  await watchContracts(app.ctx, gauges);
  await watchContracts(app.ctx, gauges);
  await untilContract((contract) => contract.unreadable !== null);
  expect(await unreadable()).toEqual([['apple', 'ethereum_sepolia', 1]]);
  expect(app.logged().match(/offer contract disabled: it cannot be read/g)).toHaveLength(1);
  expect(await order()).toMatchObject({ status: 422, body: { code: 'contract_not_found' } });
  expect(await tradable()).toBe(false);

  await moveOffer(deployment.swap);
  await watchContracts(app.ctx, gauges);
  expect(await unreadable()).toEqual([]);
  expect((await order()).status).toBe(200);
});

test('another kind of problem with the same reason is recorded', async () => {
  const { app, offer, deployment } = world;
  const contract = { offer_id: offer.id, chain: 'ethereum_sepolia', address: deployment.swap };
  const record = (code: ContractProblem['code']) =>
    setContractProblem(app.ctx.db, contract, { code, reason: 'no contract at this address' });
  expect(await record('contract_not_found')).toBe(true);
  expect(await record('contract_reverted')).toBe(true);
  expect(await record('contract_reverted')).toBe(false);
  await watchContracts(app.ctx, gauges);
});

test('a contract that names another signer is disabled until it names ours again', async () => {
  const { app, deployment, call } = world;
  await moveOffer(deployment.swap);
  const rotate = (key: 'supplier' | 'operator') =>
    call(deriveSandboxKey('owner'), deployment.swap, tokenizedSwap, 'setOperator', [roles[key].address]);
  await rotate('supplier');
  await watchContracts(app.ctx, gauges);
  expect(await unreadable()).toHaveLength(1);
  await rotate('operator');
  await watchContracts(app.ctx, gauges);
  expect(await unreadable()).toEqual([]);
  expect(app.logged()).toContain('offer contract can be read again');
});

test("a contract whose fee is not the offer's raises an alert until both are equal, and stays enabled", async () => {
  const { app, deployment, call } = world;
  const setFee = (bps: bigint) =>
    call(deriveSandboxKey('owner'), deployment.swap, tokenizedSwap, 'setFee', [bps, roles.owner.address]);
  await setFee(1_000n);
  await watchContracts(app.ctx, gauges);
  expect(await alerts(gauges.feeMismatch)).toEqual([['apple', 'ethereum_sepolia', 1]]);
  expect(await alerts(gauges.unreadable)).toEqual([]);
  await setFee(BigInt(world.offer.fee_bps ?? 0));
  await watchContracts(app.ctx, gauges);
  expect(await alerts(gauges.feeMismatch)).toEqual([]);
});

test('an unreachable node changes nothing', async () => {
  world.node.fault.set('down');
  await watchContracts(world.app.ctx, gauges);
  expect(await unreadable()).toEqual([]);
});
