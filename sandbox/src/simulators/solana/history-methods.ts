import { base58 } from '@scure/base';
import { invalidParams, RpcError } from '../rpc-error.ts';
import type { Landed } from './ledger.ts';
import type { Node } from './node.ts';
import {
  readConfig,
  readHistoryCommitment,
  readKey,
  readList,
  readOptionalInteger,
  readSignature,
} from './params.ts';
import { FORMER_MEMO_PROGRAM, isSameKey, MEMO_PROGRAM } from './programs.ts';
import { renderTransaction } from './render-transaction.ts';
import { KEPT_SLOTS } from './timeline.ts';

const MAX_STATUSES = 256;
const MAX_SIGNATURES = 1_000;

type Params = readonly unknown[];

export const historyMethods = {
  getSignatureStatuses: (node: Node, [signatures, options]: Params) => {
    const wanted = readList(signatures, MAX_STATUSES).map(readSignature);
    const searches = readConfig(options).searchTransactionHistory === true && node.faults.hasHistory;
    const { processed } = node.slots();
    const value = wanted.map((signature) => {
      const found = node.find(signature);
      const isKnown = found && (searches || found.slot > processed - KEPT_SLOTS);
      return isKnown ? renderStatus(node, found) : null;
    });
    return { context: node.bankAt('processed').context, value };
  },

  getTransaction: (node: Node, [value, options]: Params) => {
    // Old clients pass the encoding as the second parameter.
    const config = typeof options === 'string' ? { encoding: options } : readConfig(options);
    const commitment = readHistoryCommitment(config);
    const found = node.find(readSignature(value));
    if (!found || !node.faults.hasHistory || found.slot > node.slots()[commitment]) return null;
    const maximum = readOptionalInteger(
      config.maxSupportedTransactionVersion,
      'maxSupportedTransactionVersion',
    );
    const { version } = found.transaction;
    if (version !== 'legacy' && (maximum === undefined || version > maximum))
      throw new RpcError(
        -32_015,
        `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
      );
    return {
      slot: found.slot,
      blockTime: found.time,
      ...renderTransaction(node, found, config.encoding ?? 'json'),
      ...(maximum !== undefined && { version }),
    };
  },

  getSignaturesForAddress: (node: Node, [address, options]: Params) => {
    const config = readConfig(options);
    const key = base58.encode(readKey(address));
    const limit = readOptionalInteger(config.limit, 'limit') ?? MAX_SIGNATURES;
    if (limit < 1 || limit > MAX_SIGNATURES) throw invalidParams('Invalid limit; max 1000');
    const commitment = readHistoryCommitment(config);
    node.bank(config);
    if (!node.faults.hasHistory) return [];
    const last = node.slots()[commitment];
    const entries = node.chain.ledger
      .involving(key)
      .filter(({ slot }) => slot <= last)
      .toReversed();
    const start = position(entries, config.before);
    const end = position(entries, config.until);
    return entries
      .slice(start === -1 ? 0 : start + 1, end === -1 ? undefined : end)
      .slice(0, limit)
      .map((entry) => ({
        signature: entry.signature,
        slot: entry.slot,
        err: entry.err,
        memo: readMemo(entry),
        blockTime: entry.time,
        confirmationStatus: confirmationStatus(node, entry.slot),
      }));
  },
};

function position(entries: readonly Landed[], signature: unknown): number {
  if (signature === undefined || signature === null) return -1;
  const wanted = readSignature(signature);
  return entries.findIndex((entry) => entry.signature === wanted);
}

function confirmationStatus(node: Node, slot: number) {
  const { confirmed, finalized } = node.slots();
  if (slot <= finalized) return 'finalized';
  return slot <= confirmed ? 'confirmed' : 'processed';
}

function renderStatus(node: Node, { slot, err }: Landed) {
  const { processed, finalized } = node.slots();
  const { timeline } = node.chain;
  return {
    slot,
    confirmations: slot <= finalized ? null : timeline.height(processed) - timeline.height(slot),
    err,
    status: err === null ? { Ok: null } : { Err: err },
    confirmationStatus: confirmationStatus(node, slot),
  };
}

/** Joins a transaction's memos the way nodes do: each as `[length] text`, separated by semicolons. */
function readMemo({ transaction }: Landed): string | null {
  const memos = transaction.instructions
    .filter(({ program }) => {
      const key = transaction.keys[program];
      return key && (isSameKey(key, MEMO_PROGRAM) || isSameKey(key, FORMER_MEMO_PROGRAM));
    })
    .map(({ data }) => `[${data.length}] ${data.toString('utf8')}`);
  return memos.length === 0 ? null : memos.join('; ');
}
