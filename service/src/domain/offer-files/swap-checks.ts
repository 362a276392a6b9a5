import { parseAbi } from 'viem/utils';
import { fundSwapAbi } from '../../platform/chain/evm/abi.ts';
import { contractCall } from '../../platform/chain/evm/contract-call.ts';
import { optionalView } from '../../platform/chain/evm/optional-view.ts';
import type { Check, CheckTarget } from './check-target.ts';

const whitelistAbi = parseAbi(['function inputTokens(address token) view returns (bool)']);

/** The input amount of the swaps that the checks preview, in the funding token's smallest unit. */
const SAMPLE = 10n ** 12n;

/**
 * Returns the checks for a fund swap. They compare the output token and the fee with the file, and check that the
 * contract accepts every funding token.
 */
export function swapChecks({ file, contract, chain }: CheckTarget): Check[] {
  const { address, asset_address, funding_tokens } = contract;
  const outputCheck = async () => {
    const output = await chain.reader.read(contractCall(address, fundSwapAbi, 'outputToken', []));
    if (asset_address === null || asset_address === output.toLowerCase()) return null;
    return `pays out ${output.toLowerCase()}, but asset_address is ${asset_address}`;
  };
  const fundingCheck = (token: (typeof funding_tokens)[number]) => async () => {
    const [input, fee] = await chain.reader.read(
      contractCall(address, fundSwapAbi, 'preview', [token.address, SAMPLE]),
    );
    if (file.fee_bps !== null && input > 0n) {
      const bps = (fee * 10_000n + input / 2n) / input;
      if (bps !== BigInt(file.fee_bps))
        return `the contract takes a fee of ${bps} basis points, but fee_bps is ${file.fee_bps}`;
    }
    // Some contracts preview a swap of any token, and reject an unsupported token only in the swap itself.
    const isAccepted = await optionalView(
      chain.reader.read(contractCall(address, whitelistAbi, 'inputTokens', [token.address])),
    );
    return isAccepted === false
      ? 'the swap contract does not accept this token: inputTokens() is false'
      : null;
  };
  return [
    { path: 'address', run: outputCheck },
    ...funding_tokens.map((token) => ({ path: `funding_tokens.${token.asset}`, run: fundingCheck(token) })),
  ];
}
