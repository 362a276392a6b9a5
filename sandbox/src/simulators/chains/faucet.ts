import type { Hex } from 'viem';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { roles } from '../../seed/keys.ts';
import { ControlError } from '../control.ts';
import { RpcError } from '../rpc-error.ts';
import type { Chain } from './chain.ts';
import type { ChainDeployment } from './deploy.ts';
import { nextNonce, type PlannedTransaction, transact } from './transact.ts';

export type FaucetInput = { address: string; asset_id?: string; amount: string };
type FaucetChain = { chain: Chain; embedded: { chainId: number }; deployment: ChainDeployment };
type Payment = { transaction_hash: Hex };

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const MAX_UINT256 = 2n ** 256n - 1n;
const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);

/** Creates a faucet that sends gas and mints tokens from the deployer's account, one payment at a time. */
export function createFaucet() {
  // Payments are queued because they share the deployer's nonce.
  let lastPayment: Promise<unknown> = Promise.resolve();
  return (target: FaucetChain, input: FaucetInput): Promise<Payment> => {
    const payment = lastPayment.then(() => pay(target, input));
    lastPayment = payment.catch(() => undefined);
    return payment;
  };
}

async function pay({ chain, embedded, deployment }: FaucetChain, input: FaucetInput): Promise<Payment> {
  const planned = planPayment(deployment, input);
  const nonce = await nextNonce(chain, roles.deployer.address);
  const transaction = { ...planned, chainId: embedded.chainId, nonce };
  const { hash, status } = await transact(chain, roles.deployer, transaction).catch((error) => {
    throw error instanceof RpcError ? new ControlError('validation_failed', error.message) : error;
  });
  if (status !== 'success') throw new ControlError('contract_reverted', 'the faucet transaction reverted');
  return { transaction_hash: hash };
}

function planPayment(
  { tokens }: ChainDeployment,
  { address, asset_id, amount }: FaucetInput,
): PlannedTransaction {
  if (BigInt(amount) > MAX_UINT256)
    throw new ControlError('validation_failed', 'the amount is too large', { amount: ['is too large'] });
  if (!ADDRESS.test(address))
    throw new ControlError('validation_failed', 'the address is not an EVM address', {
      address: ['is not an EVM address'],
    });
  const to = address as Hex;
  if (asset_id === undefined) return { to, value: BigInt(amount) };
  const token = tokens.find((deployed) => deployed.asset_id === asset_id);
  if (!token)
    throw new ControlError('validation_failed', `this chain has no asset ${asset_id}`, {
      asset_id: ['is unknown on this chain'],
    });
  const data = encodeFunctionData({ abi: mintAbi, args: [to, BigInt(amount)] });
  return { to: token.address, data };
}
