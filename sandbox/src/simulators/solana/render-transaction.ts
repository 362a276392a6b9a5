import { base58 } from '@scure/base';
import { invalidParams } from '../rpc-error.ts';
import type { Landed } from './ledger.ts';
import type { Node } from './node.ts';
import type { InnerCall } from './svm.ts';
import { isWritableKey, type WireTransaction } from './wire-transaction.ts';

/** Renders a transaction and its metadata in the requested encoding. */
export function renderTransaction(node: Node, entry: Landed, encoding: unknown) {
  const { transaction } = entry;
  const isParsed = encoding === 'jsonParsed';
  return { transaction: renderBody(entry, encoding), meta: renderMeta(node, entry, isParsed, transaction) };
}

function renderBody(entry: Landed, encoding: unknown) {
  const { raw, signatures } = entry.transaction;
  switch (encoding) {
    case 'base64':
      return [raw.toString('base64'), 'base64'];
    case 'base58':
      return [base58.encode(raw), 'base58'];
    case 'json':
    case 'jsonParsed':
      return {
        signatures: signatures.map((signature) => base58.encode(signature)),
        message: encoding === 'json' ? renderMessage(entry.transaction) : renderParsedMessage(entry),
      };
    default:
      throw invalidParams(`Invalid params: unsupported encoding ${String(encoding)}`);
  }
}

function renderMessage({ version, header, keys, blockhash, instructions, lookups }: WireTransaction) {
  return {
    header: {
      numRequiredSignatures: header.required,
      numReadonlySignedAccounts: header.readonlySigned,
      numReadonlyUnsignedAccounts: header.readonlyUnsigned,
    },
    accountKeys: keys.map((key) => base58.encode(key)),
    recentBlockhash: base58.encode(blockhash),
    instructions: instructions.map(({ program, accounts, data }) => ({
      programIdIndex: program,
      accounts,
      data: base58.encode(data),
      stackHeight: 1,
    })),
    ...(version !== 'legacy' && { addressTableLookups: renderLookups(lookups) }),
  };
}

/** Leaves every instruction unparsed, as nodes do for unknown programs. */
function renderParsedMessage({ keys, transaction, loaded }: Landed) {
  const staticKeys = transaction.keys.length;
  return {
    accountKeys: keys.map((key, index) => ({
      pubkey: base58.encode(key),
      signer: index < transaction.header.required,
      writable:
        index < staticKeys ? isWritableKey(transaction, index) : index < staticKeys + loaded.writable.length,
      source: index < staticKeys ? 'transaction' : 'lookupTable',
    })),
    recentBlockhash: base58.encode(transaction.blockhash),
    instructions: transaction.instructions.map((instruction) =>
      renderPartlyDecoded(keys, { ...instruction, stackHeight: 1 }),
    ),
    ...(transaction.version !== 'legacy' && { addressTableLookups: renderLookups(transaction.lookups) }),
  };
}

function renderLookups(lookups: WireTransaction['lookups']) {
  return lookups.map(({ table, writable, readonly }) => ({
    accountKey: base58.encode(table),
    writableIndexes: writable,
    readonlyIndexes: readonly,
  }));
}

function renderPartlyDecoded(keys: Uint8Array[], { program, accounts, data, stackHeight }: InnerCall) {
  const encode = (index: number) => base58.encode(keys[index] ?? new Uint8Array());
  return {
    programId: encode(program),
    accounts: accounts.map(encode),
    data: base58.encode(data),
    stackHeight,
  };
}

function renderMeta(node: Node, entry: Landed, isParsed: boolean, { version }: WireTransaction) {
  const { err, loaded } = entry;
  const encodeAll = (keys: Uint8Array[]) => keys.map((key) => base58.encode(key));
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee: entry.fee,
    preBalances: entry.preBalances,
    postBalances: entry.postBalances,
    innerInstructions: node.faults.recordsInner ? renderInner(entry, isParsed) : null,
    logMessages: entry.logs,
    preTokenBalances: entry.preTokenBalances,
    postTokenBalances: entry.postTokenBalances,
    rewards: [],
    computeUnitsConsumed: entry.units,
    ...(entry.returnData && { returnData: renderReturnData(entry.returnData) }),
    ...(!isParsed && {
      loadedAddresses:
        version === 'legacy'
          ? { writable: [], readonly: [] }
          : { writable: encodeAll(loaded.writable), readonly: encodeAll(loaded.readonly) },
    }),
  };
}

/**
 * Renders the inner instructions, grouped by the instruction that invoked them. Omits instructions that invoked none.
 */
export function renderInner({ inner, keys }: Pick<Landed, 'inner' | 'keys'>, isParsed: boolean) {
  return inner.flatMap((calls, index) => {
    if (calls.length === 0) return [];
    const instructions = calls.map((call) =>
      isParsed
        ? renderPartlyDecoded(keys, call)
        : {
            programIdIndex: call.program,
            accounts: call.accounts,
            data: base58.encode(call.data),
            stackHeight: call.stackHeight,
          },
    );
    return { index, instructions };
  });
}

export function renderReturnData({ program, data }: NonNullable<Landed['returnData']>) {
  return { programId: base58.encode(program), data: [Buffer.from(data).toString('base64'), 'base64'] };
}
