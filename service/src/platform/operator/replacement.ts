import { setTimeout as sleep } from 'node:timers/promises';
import { invalidField } from '../../kernel/errors.ts';
import type { EvmChain } from '../chain/evm/client.ts';
import { readReceipts } from '../chain/evm/node-reads.ts';
import type { Db } from '../db/pool.ts';
import type { OperatorAccount } from './account.ts';
import { limitFees, raiseFees, readFeeMarket } from './fees.ts';
import { listKeys } from './lease-store.ts';
import { isEmpty } from './rebroadcast.ts';
import { findRequest, insertRequest } from './replacement-store.ts';
import { listOpen } from './store.ts';
import { lastAttempt, type OpenTransaction, type ReplacementAction } from './transaction.ts';

/** Default: the key's oldest unmined transaction. `address` is required if several keys have a matching one. */
export type ReplacementChoice = { action: ReplacementAction; address?: string; nonce?: bigint };

/** Needs no private key: the node that holds the key's lease signs the replacement later. */
export type ReplacementPlan = {
  id: string;
  chain: string;
  address: string;
  nonce: string;
  kind: string;
  action: ReplacementAction;
  replaces: string;
  max_fee_wei: string;
  /** The maximum fee of the replacement at current market prices; null if the fee caps do not allow a replacement. */
  new_max_fee_wei: string | null;
  /** Whether a node holds the key's lease now. If so, that node carries out the request immediately. */
  is_attended: boolean;
};

const POLL_INTERVAL_MS = 200;

export async function planReplacement(
  db: Db,
  chain: EvmChain,
  caps: Pick<OperatorAccount, 'maxFee' | 'maxTip'>,
  choice: ReplacementChoice,
): Promise<ReplacementPlan> {
  const { transaction, address, isAttended } = await chooseTransaction(db, chain, choice);
  const last = lastAttempt(transaction);
  const { action } = choice;
  if (action === 'cancel' && isEmpty(last.raw))
    throw invalidField('nonce', `${transaction.nonce} is already an empty transfer; bump it instead`);
  const market = await readFeeMarket(chain);
  const fees =
    market.baseFee > caps.maxFee ? null : raiseFees(last, limitFees(chain.name, market, caps), caps);
  return {
    ...{ id: transaction.id, chain: chain.name, address, nonce: String(transaction.nonce) },
    ...{ kind: transaction.kind, action, replaces: last.hash, max_fee_wei: String(last.maxFee) },
    new_max_fee_wei: fees === null ? null : String(fees.maxFee),
    is_attended: isAttended,
  };
}

async function chooseTransaction(db: Db, chain: EvmChain, { address, nonce }: ReplacementChoice) {
  const keys = (await listKeys(db, chain.name)).filter(
    (key) => address === undefined || key.address === address,
  );
  const found: { transaction: OpenTransaction; address: string; isAttended: boolean }[] = [];
  for (const key of keys) {
    const open = await listOpen(db, { chain: chain.name, address: key.address });
    const unmined = await filterUnmined(chain, open);
    const transaction = nonce === undefined ? unmined[0] : unmined.find((each) => each.nonce === nonce);
    if (transaction !== undefined) found.push({ transaction, address: key.address, isAttended: key.isHeld });
  }
  const [first] = found;
  if (first === undefined)
    throw invalidField(
      'nonce',
      nonce === undefined
        ? `no transaction on ${chain.name} is waiting to be mined`
        : `no transaction on ${chain.name} with nonce ${nonce} is waiting to be mined`,
    );
  if (found.length > 1)
    throw invalidField(
      'address',
      `several keys have a matching transaction; choose one of ${found.map((each) => each.address).join(', ')}`,
    );
  return first;
}

async function filterUnmined(chain: EvmChain, open: readonly OpenTransaction[]): Promise<OpenTransaction[]> {
  const unmined: OpenTransaction[] = [];
  for (const transaction of open) {
    const hashes = transaction.attempts.map(({ hash }) => hash);
    if ((await readReceipts(chain, hashes)).every((receipt) => receipt === null)) unmined.push(transaction);
  }
  return unmined;
}

/**
 * Only the node that holds the key's lease signs, so two nodes never replace the transaction at once. Throws
 * `validation_failed` if it is already recorded as mined. If it is mined before the node acts, the request has no
 * effect.
 */
export async function requestReplacement(db: Db, { id, nonce, action }: ReplacementPlan): Promise<void> {
  if (!(await insertRequest(db, id, action)))
    throw invalidField('nonce', `the transaction with nonce ${nonce} was mined in the meantime`);
}

/** The outcome of a request. `waiting`: no node carried out the request before the timeout. */
export type ReplacementResult =
  | { outcome: 'replaced'; hash: string }
  | { outcome: 'refused'; message: string }
  | { outcome: 'mined' | 'waiting' };

/** Waits until a node has carried out or refused the request, or the transaction is mined; `waiting` after `timeoutMs`. */
export async function awaitReplacement(
  db: Db,
  { id }: ReplacementPlan,
  timeoutMs: number,
): Promise<ReplacementResult> {
  for (const until = performance.now() + timeoutMs; ; await sleep(POLL_INTERVAL_MS)) {
    const found = await findRequest(db, id);
    if (found === null || found.state !== 'open') return { outcome: 'mined' };
    if (found.requested === null)
      return found.refusal === null
        ? { outcome: 'replaced', hash: found.hash }
        : { outcome: 'refused', message: found.refusal };
    if (performance.now() > until) return { outcome: 'waiting' };
  }
}
