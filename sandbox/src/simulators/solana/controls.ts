import { Type } from 'typebox';
import { type Control, ControlError } from '../control.ts';
import { type Fault, FaultInput, type FaultMode } from '../fault.ts';
import { RollbackTooDeep, type SolanaChain } from './chain.ts';
import { type FaucetInput, payAndConfirm } from './faucet.ts';
import { solanaDeployment } from './genesis.ts';
import type { Node, NodeFaults } from './node.ts';

type Height = { height: number };

export type SolanaControls = {
  'solana/faucet': { input: FaucetInput; output: { transaction_hash: string } };
  'solana/mine': { input: { blocks: number }; output: Height };
  'solana/skip': { input: { slots: number }; output: Height };
  'solana/reorg': { input: { depth: number; transactions?: 'return' | 'drop' }; output: Height };
  'solana/interval': { input: { milliseconds: number }; output: Height };
  'solana/fault': { input: { mode: FaultMode; for_seconds?: number }; output: Record<string, never> };
  /**
   * Sets the faults of the Solana node that the service uses. For network faults between that node and its callers, use
   * `solana/fault`.
   */
  'solana/node': { input: Partial<NodeFaults>; output: Record<string, never> };
};

const Faucet = Type.Object({
  address: Type.String({ maxLength: 100 }),
  asset_id: Type.Optional(Type.String()),
  amount: Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' }),
});
const Mine = Type.Object({ blocks: Type.Integer({ minimum: 1, maximum: 10_000 }) });
const Skip = Type.Object({ slots: Type.Integer({ minimum: 1, maximum: 10_000 }) });
const Reorg = Type.Object({
  depth: Type.Integer({ minimum: 1, maximum: 1_000 }),
  transactions: Type.Optional(Type.Enum(['return', 'drop'])),
});
const Interval = Type.Object({ milliseconds: Type.Union([Type.Literal(0), Type.Integer({ minimum: 50 })]) });
const SetNode = Type.Object({
  slotsBehind: Type.Optional(Type.Integer({ minimum: 0, maximum: 250 })),
  hasHistory: Type.Optional(Type.Boolean()),
  recordsInner: Type.Optional(Type.Boolean()),
  hidesTokenAccounts: Type.Optional(Type.Boolean()),
  sending: Type.Optional(
    Type.Union([
      Type.Enum(['now', 'lost']),
      Type.Object({ lateBySlots: Type.Integer({ minimum: 1, maximum: 1_000 }) }),
    ]),
  ),
});

export function addSolanaControls(
  control: Control,
  { chain, fault, node }: { chain: SolanaChain; fault: Fault; node: Node },
): void {
  const height = async (): Promise<Height> => {
    const { processed } = chain.slots();
    await chain.committed();
    return { height: processed };
  };
  control.on('solana/faucet', Faucet, (input) => payAndConfirm(chain, solanaDeployment.tokens, input));
  control.on('solana/mine', Mine, ({ blocks }) => {
    chain.mine(blocks);
    return height();
  });
  control.on('solana/skip', Skip, ({ slots }) => {
    chain.skip(slots);
    return height();
  });
  control.on('solana/reorg', Reorg, ({ depth, transactions = 'return' }) => {
    rollBack(chain, depth, transactions);
    return height();
  });
  control.on('solana/interval', Interval, ({ milliseconds }) => {
    chain.setSlotMs(milliseconds);
    return height();
  });
  control.on('solana/fault', FaultInput, async (input) => fault.set(input.mode, input.for_seconds));
  control.on('solana/node', SetNode, async (input) => void Object.assign(node.faults, input));
}

function rollBack(chain: SolanaChain, depth: number, transactions: 'return' | 'drop'): void {
  try {
    chain.rollBack(depth, transactions);
  } catch (error) {
    if (error instanceof RollbackTooDeep)
      throw new ControlError('validation_failed', error.message, { depth: [error.message] });
    throw error;
  }
}
