import { Closed, ObjectName } from '@causeway/service/kernel/wire.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import Type from 'typebox';
import { roles, testWallets } from '../seed/keys.ts';
import type { Simulators } from '../simulators/start.ts';
import { withApiErrors } from './api-errors.ts';
import { type ChainControl, ChainParams, embeddedChains, requireEmbeddedChain } from './chain-params.ts';
import type { ControlGroup } from './control-group.ts';
import { faucetRoute } from './faucet.ts';
import { faultInput } from './faults.ts';

/** The addresses that have a role in the contracts, under the names that `GET /sandbox` uses. */
const ROLES = [
  ['operator', roles.operator],
  ['supplier', roles.supplier],
  ['owner', roles.owner],
  ['venue_owner', roles.venueOwner],
  ['venue_signer', roles.venueSigner],
] as const;

/** The embedded chains, their tokens and the funded test wallets. */
export function chainControls({ chains, solana, control }: Simulators): ControlGroup {
  const controlled = embeddedChains(control);
  return {
    overview: () => ({
      chains: [...chains, { ...solana, chain_id: null }].map(({ chain, chain_id, rpc_url, deployment }) => ({
        chain,
        chain_id,
        rpc_url,
        tokens: deployment.tokens.map(({ asset_id, code, address, decimals }) => ({
          asset_id,
          code,
          address,
          decimals,
        })),
      })),
      roles: Object.fromEntries(ROLES.map(([name, { address }]) => [name, address.toLowerCase()])),
      wallets: testWallets,
    }),
    routes: [faucetRoute(controlled), ...blockRoutes(controlled)],
    faults: new Map(
      controlled.map(({ chain, fault }) => [
        `rpc:${chain}`,
        (mode, forSeconds) => fault(faultInput(mode, forSeconds)),
      ]),
    ),
  };
}

const ChainHead = Closed({
  object: ObjectName('chain_head'),
  chain: Type.String(),
  block_number: Type.Integer(),
});
const errors = ['validation_failed', 'chain_not_supported'] as const;

function blockRoutes(chains: readonly ChainControl[]) {
  return [
    publicRoute({
      method: 'POST',
      path: '/sandbox/chains/:chain/mine',
      operationId: 'mineBlocks',
      summary: 'Mine blocks',
      description: 'On Solana, `blocks` is the number of slots to advance.',
      params: ChainParams,
      body: Closed({ blocks: Type.Integer({ minimum: 1, maximum: 10_000 }) }),
      reply: ChainHead,
      errors,
      handle: async (_ctx, _caller, { params, body }) => {
        const { chain, mine } = requireEmbeddedChain(chains, params.chain);
        return chainHead(chain, await withApiErrors(mine(body)));
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/sandbox/chains/:chain/reorg',
      operationId: 'reorganiseChain',
      summary: 'Replace the latest blocks (reorg)',
      description:
        'The new blocks are empty. The transactions in the dropped blocks return to the mempool (`return`, the default) or are discarded (`drop`). On Solana, final slots cannot be replaced.',
      params: ChainParams,
      body: Closed({
        depth: Type.Integer({ minimum: 1, maximum: 1_000 }),
        transactions: Type.Optional(Type.Enum(['return', 'drop'])),
      }),
      reply: ChainHead,
      errors,
      handle: async (_ctx, _caller, { params, body }) => {
        const { chain, reorg } = requireEmbeddedChain(chains, params.chain);
        return chainHead(chain, await withApiErrors(reorg(body)));
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/sandbox/chains/:chain/interval',
      operationId: 'setBlockInterval',
      summary:
        'Set the block interval in milliseconds. 0 mines one block per transaction; on Solana, 0 stops slots from advancing',
      params: ChainParams,
      body: Closed({ milliseconds: Type.Integer({ minimum: 0, maximum: 600_000 }) }),
      reply: ChainHead,
      errors,
      handle: async (_ctx, _caller, { params, body }) => {
        const { chain, interval } = requireEmbeddedChain(chains, params.chain);
        return chainHead(chain, await withApiErrors(interval(body)));
      },
    }),
  ];
}

function chainHead(chain: string, { height }: { height: number }) {
  return { object: 'chain_head' as const, chain, block_number: height };
}
