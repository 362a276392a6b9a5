import { Closed, ObjectName, Uint256 } from '@causeway/service/kernel/wire.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type from 'typebox';
import { withApiErrors } from './api-errors.ts';
import { type ChainControl, ChainParams, requireEmbeddedChain } from './chain-params.ts';

/** The sandbox faucet: sends test gas or mints test tokens to an address. */
export function faucetRoute(chains: readonly ChainControl[]) {
  return publicRoute({
    method: 'POST',
    path: '/sandbox/chains/:chain/faucet',
    operationId: 'faucet',
    summary: 'Send gas or a token to an address',
    params: ChainParams,
    body: Closed({
      address: Type.String({ maxLength: 100 }),
      asset_id: Type.Optional(Type.String({ maxLength: 100 })),
      amount: Uint256,
    }),
    reply: Closed({ object: ObjectName('faucet_payment'), transaction_hash: Type.String() }),
    errors: ['validation_failed', 'chain_not_supported', 'contract_reverted'],
    handle: async (_ctx, _caller, { params, body }) => {
      const { faucet } = requireEmbeddedChain(chains, params.chain);
      const payment = await withApiErrors(faucet(body));
      return { object: 'faucet_payment' as const, ...payment };
    },
  });
}
