import { contractCall } from '../chain/evm/contract-call.ts';
import { readDomainName, readOperator } from '../chain/evm/tokenized-swap.ts';
import type { Check, CheckTarget } from './check-target.ts';
import { tokenizedAbi } from './views.ts';

/** The amount for which the check reads the fee, in the funding token's smallest unit. */
const SAMPLE = 10n ** 12n;

/** Returns the checks for a tokenized swap: its fee, EIP-712 domain and signer. */
export function tokenizedChecks({ addressOf, file, contract, chain }: CheckTarget): Check[] {
  const { address, domain_name } = contract;
  const feeCheck = async () => {
    const [fee] = await chain.reader.read(contractCall(address, tokenizedAbi, 'fee', [0, SAMPLE]));
    const bps = BigInt(file.fee_bps ?? 0);
    const expected = SAMPLE - (SAMPLE * 10_000n) / (10_000n + bps);
    return fee === expected
      ? null
      : `the contract's fee does not match fee_bps = ${bps}: it takes ${fee} of ${SAMPLE}, not ${expected}`;
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
