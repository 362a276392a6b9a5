import { ApiError } from '@causeway/service/errors.ts';
import { publicRoute } from '@causeway/service/http/route.ts';
import { Closed, EvmAddress, ObjectName, Uint256 } from '@causeway/service/http/wire.ts';
import Type from 'typebox';
import { EMBEDDED_CHAINS, type EmbeddedChainName } from '../simulators/chains/embedded.ts';
import type { SimulatorControl } from '../simulators/start.ts';
import { passErrors } from './pass-errors.ts';

const Params = Type.Object({ chain: Type.String() });
const Head = Closed({ object: ObjectName('chain_head'), chain: Type.String(), block_number: Type.Integer() });
const errors = ['validation_failed', 'chain_not_supported'] as const;

/** The controls over the embedded chains. */
export function chainRoutes({ call }: Pick<SimulatorControl, 'call'>) {
  return [
    publicRoute({
      method: 'POST',
      path: '/sandbox/chains/:chain/faucet',
      operationId: 'faucet',
      summary: 'Gives gas, or a token',
      params: Params,
      body: Closed({
        address: EvmAddress,
        asset_id: Type.Optional(Type.String({ maxLength: 100 })),
        amount: Uint256,
      }),
      reply: Closed({ object: ObjectName('faucet_payment'), transaction_hash: Type.String() }),
      errors: [...errors, 'contract_reverted'],
      handle: async (_ctx, _caller, { params, body }) => {
        const paid = await passErrors(call('chains/faucet', { chain: embedded(params.chain), ...body }));
        return { object: 'faucet_payment' as const, ...paid };
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/sandbox/chains/:chain/mine',
      operationId: 'mineBlocks',
      summary: 'Mines blocks',
      params: Params,
      body: Closed({ blocks: Type.Integer({ minimum: 1, maximum: 10_000 }) }),
      reply: Head,
      errors,
      handle: async (_ctx, _caller, { params, body }) => {
        const chain = embedded(params.chain);
        return head(chain, await passErrors(call('chains/mine', { chain, ...body })));
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/sandbox/chains/:chain/reorg',
      operationId: 'reorganiseChain',
      summary: 'Drops the last blocks and mines others',
      description:
        'The other blocks are empty. The transactions of the dropped ones wait to be mined again (`return`, the default) or are lost (`drop`).',
      params: Params,
      body: Closed({
        depth: Type.Integer({ minimum: 1, maximum: 1_000 }),
        transactions: Type.Optional(Type.Enum(['return', 'drop'])),
      }),
      reply: Head,
      errors,
      handle: async (_ctx, _caller, { params, body }) => {
        const chain = embedded(params.chain);
        return head(chain, await passErrors(call('chains/reorg', { chain, ...body })));
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/sandbox/chains/:chain/interval',
      operationId: 'setBlockInterval',
      summary: 'Mines on every transaction (0), or a block every so many milliseconds',
      params: Params,
      body: Closed({ milliseconds: Type.Integer({ minimum: 0, maximum: 600_000 }) }),
      reply: Head,
      errors,
      handle: async (_ctx, _caller, { params, body }) => {
        const chain = embedded(params.chain);
        return head(chain, await passErrors(call('chains/interval', { chain, ...body })));
      },
    }),
  ];
}

function embedded(name: string): EmbeddedChainName {
  const found = EMBEDDED_CHAINS.find(({ chain }) => chain === name);
  if (found === undefined)
    throw new ApiError('chain_not_supported', { chain: [`${name} does not run embedded`] });
  return found.chain;
}

function head(chain: string, { height }: { height: number }) {
  return { object: 'chain_head' as const, chain, block_number: height };
}
