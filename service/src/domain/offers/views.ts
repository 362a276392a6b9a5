import { type Abi, type Hex, zeroAddress, zeroHash } from 'viem';
import { parseAbi, toFunctionSignature } from 'viem/utils';
import type { ApiError } from '../../kernel/errors.ts';
import type { OfferType } from '../../kernel/model/offer.ts';
import { allowListAbi } from '../../platform/chain/evm/allow-list.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { type Call, contractCall, fundSwapAbi } from '../../platform/chain/evm/contract-call.ts';
import { findApiError } from '../../platform/chain/rpc/failures.ts';

/** A view function that a contract must have. `call` succeeds only if the contract has the function. */
type View = { address: Hex; signature: string; call: Call<unknown> };

/** An offer's contract on one chain, with its tokens and its allow-list. Addresses are in lower case. */
export type ViewedContract = {
  address: Hex;
  asset_address: Hex | null;
  allow_list: Hex | null;
  funding_tokens: readonly { address: Hex }[];
};

export const fundAbi = parseAbi([
  'function KIND() view returns (uint256)',
  'function minCommit() view returns (uint256)',
  'function id() view returns (bytes32)',
  'function stopped() view returns (uint256)',
  'function totals(address user, bytes32 option, address token) view returns (uint256, uint256, uint256, uint256)',
]);

const tokenizedAbi = parseAbi([
  'function fee(uint8 side, uint256 amount) view returns (uint256 fee, uint256 net)',
  'function totals(address user, address input, address output) view returns (uint256, uint256, uint256, uint256)',
  'function domainSeparator() view returns (bytes32)',
]);

/** Lists the views that an offer of this type requires. `docs/offers.md` lists them too. */
export function requiredViews(type: OfferType, contract: ViewedContract): View[] {
  const { address, asset_address, allow_list, funding_tokens } = contract;
  const token = funding_tokens[0]?.address ?? zeroAddress;
  const list = allow_list === null ? [] : [view(allow_list, allowListAbi, 'authorized', [zeroAddress])];
  switch (type) {
    case 'platform::token_sale':
      return [
        ...(['KIND', 'minCommit', 'id', 'stopped'] as const).map((name) => view(address, fundAbi, name, [])),
        view(address, fundAbi, 'totals', [zeroAddress, zeroHash, token]),
      ];
    case 'fund::swap':
      return [
        ...(['outputToken', 'stopped', 'SWAP_LEVEL'] as const).map((name) =>
          view(address, fundSwapAbi, name, []),
        ),
        ...list,
      ];
    case 'tokenized::swap':
      return [
        view(address, tokenizedAbi, 'fee', [0, 10n ** 6n]),
        view(address, tokenizedAbi, 'totals', [zeroAddress, token, asset_address ?? zeroAddress]),
        view(address, tokenizedAbi, 'domainSeparator', []),
        ...list,
      ];
  }
}

function view(address: Hex, abi: Abi, name: string, args: readonly unknown[]): View {
  const item = abi.find((each) => each.type === 'function' && each.name === name);
  const signature = item?.type === 'function' ? toFunctionSignature(item) : `${name}()`;
  return { address, signature, call: contractCall(address, abi, name as never, args as never) };
}

type ViewFailure = { address: Hex; signature: string; error: ApiError };

/** Calls every view. Returns the views that failed, no matter whether the contract or the RPC node was at fault. */
export async function readViews({ reader }: EvmChain, views: readonly View[]): Promise<ViewFailure[]> {
  const failures = await Promise.all(
    views.map(async ({ address, signature, call }) => {
      try {
        await reader.read(call);
        return [];
      } catch (thrown) {
        const error = findApiError(thrown);
        if (error === undefined) throw thrown;
        return [{ address, signature, error }];
      }
    }),
  );
  return failures.flat();
}

export function describeFailure({ code, details, message }: ApiError): string {
  if (code === 'contract_not_found') return 'no contract at this address';
  if (code === 'contract_reverted') return String(details.reason);
  return message;
}
