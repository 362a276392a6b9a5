import { erc20Abi } from '../../platform/chain/evm/abi.ts';
import { contractCall } from '../../platform/chain/evm/contract-call.ts';
import { findInexactTransfers } from '../../platform/chain/evm/transfer-probe.ts';
import type { Check, CheckTarget } from './check-target.ts';

/**
 * Returns the checks for the tokens. Each token must have as many decimals as its asset, and a transfer of a funding
 * token must move exactly the requested amount.
 */
export function tokenChecks({ file, digits, contract, chain }: CheckTarget): Check[] {
  const { address: fund, asset_address, funding_tokens } = contract;
  const tokens = [
    ...funding_tokens.map(({ asset, address }) => ({ path: `funding_tokens.${asset}`, asset, address })),
    ...(asset_address === null ? [] : [{ path: 'asset_address', asset: file.asset, address: asset_address }]),
  ];
  const decimalChecks = tokens.map(({ path, asset, address }) => ({
    path,
    run: async () => {
      const decimals = await chain.reader.read(contractCall(address, erc20Abi, 'decimals', []));
      const expected = digits.get(asset);
      return decimals === BigInt(expected ?? -1)
        ? null
        : `the token has ${decimals} decimals, but ${asset} has ${expected} fractional digits`;
    },
  }));
  const transferChecks = funding_tokens.map(({ asset, address }) => ({
    path: `funding_tokens.${asset}`,
    run: () => findInexactTransfers(chain, address, fund),
  }));
  return [...decimalChecks, ...transferChecks];
}
