import type { Hex } from 'viem';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { readBuyFee, readDomainName, readOperator } from '../../platform/chain/evm/tokenized-swap.ts';
import { feeBpsOf } from '../tokenized/fee.ts';
import type { Check, CheckTarget } from './check-target.ts';

/** The amount for which the contract's fee is read, in the funding token's smallest unit. */
const SAMPLE = 10n ** 12n;

/** Reads the fee of a tokenized swap contract, in basis points. */
export async function readFeeBps(chain: EvmChain, swap: Hex): Promise<number> {
  const { net } = await readBuyFee(chain, swap, SAMPLE);
  return feeBpsOf(SAMPLE, net);
}

/** Returns the checks for a tokenized swap: its fee, EIP-712 domain and signer. */
export function tokenizedChecks({ addressOf, file, contract, chain }: CheckTarget): Check[] {
  const { address, domain_name } = contract;
  const feeCheck = async () => {
    const bps = await readFeeBps(chain, address);
    const expected = file.fee_bps ?? 0;
    return bps === expected ? null : `the contract's fee is ${bps} basis points, but fee_bps is ${expected}`;
  };
  const domainCheck = async () =>
    domain_name === null && (await readDomainName(chain, address)) === null
      ? 'is required: the contract has no eip712Domain()'
      : null;
  /**
   * Checks that the contract accepts orders signed by our key. A contract that does not expose its signer passes,
   * because only simulating an order would show whether the signer is right.
   */
  const operatorCheck = async () => {
    const signer = await readOperator(chain, address);
    const operator = addressOf('quote', chain.name);
    if (operator === null || signer === null || signer === operator.toLowerCase()) return null;
    return `the contract accepts orders signed by ${signer}, not by ${operator}`;
  };
  return [
    { path: 'fee_bps', run: feeCheck },
    { path: 'domain_name', run: domainCheck },
    { path: 'operator', run: operatorCheck },
  ];
}
