import { base58 } from '@scure/base';
import { invalidParams, RpcError } from '../rpc-error.ts';
import { renderAccount } from './account-methods.ts';
import { computeFee } from './fees.ts';
import type { Node } from './node.ts';
import { type Config, decodeText, readConfig, readInteger, readKey, readList } from './params.ts';
import { renderInner, renderReturnData } from './render-transaction.ts';
import { type Simulation, toHex } from './svm.ts';
import { MAX_BLOCKHASH_AGE } from './timeline.ts';
import { describeTransactionError } from './transaction-error.ts';
import {
  MalformedTransaction,
  parseMessage,
  parseTransaction,
  type WireTransaction,
} from './wire-transaction.ts';

const MAX_TRANSACTION_BYTES = 1_232;
const MAX_ENCODED = { base58: 1_683, base64: 1_644 };

type Params = readonly unknown[];
type Pay = (node: Node, address: Uint8Array, lamports: bigint) => string;

/** Methods that execute or simulate a transaction. `pay` sends lamports from the faucet and returns the signature. */
export function sendMethods(pay: Pay) {
  return {
    sendTransaction: (node: Node, [text, options]: Params) => {
      const config = readConfig(options);
      const transaction = readTransaction(text, config);
      if (config.skipPreflight !== true) preflight(node, transaction, config);
      send(node, transaction);
      return base58.encode(transaction.signatures[0] as Buffer);
    },

    simulateTransaction: (node: Node, [text, options]: Params) => {
      const config = readConfig(options);
      const transaction = readTransaction(text, config);
      const { sigVerify: verifySignatures = false, replaceRecentBlockhash: replaces = false } = config;
      if (verifySignatures && replaces)
        throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
      const bank = node.bank(config);
      const result = node.chain.ledger.simulate(transaction, bank.slot, {
        verifySignatures: verifySignatures === true,
        checkBlockhash: replaces !== true,
      });
      if (result.err === 'SignatureFailure') throw signatureFailure();
      return { context: bank.context, value: renderSimulation(node, transaction, result, config) };
    },

    getFeeForMessage: (node: Node, [text, options]: Params) => {
      const bank = node.bank(readConfig(options));
      const message = parse(() => parseMessage(decodeText(text, 'base64')), 'VersionedMessage');
      const isValid = node.chain.timeline.findBlockhash(message.blockhash, bank.slot) !== undefined;
      return { context: bank.context, value: isValid ? computeFee(message) : null };
    },

    requestAirdrop: (node: Node, [address, lamports]: Params) =>
      pay(node, readKey(address), BigInt(readInteger(lamports, 'lamports'))),
  };
}

function send({ chain, faults: { sending } }: Node, transaction: WireTransaction): void {
  if (sending === 'now') chain.submit(transaction);
  else if (sending !== 'lost') chain.submitLater(transaction, sending.lateBySlots);
}

/**
 * Simulates the transaction at the preflight commitment. If the simulation fails, throws the error that a node would
 * return.
 */
function preflight(node: Node, transaction: WireTransaction, config: Config): void {
  const bank = node.bank({ ...config, commitment: config.preflightCommitment ?? config.commitment });
  node.requireHealth();
  const result = node.chain.ledger.simulate(transaction, bank.slot, {
    verifySignatures: true,
    checkBlockhash: true,
  });
  if (result.err === null) return;
  if (result.err === 'SignatureFailure') throw signatureFailure();
  throw new RpcError(-32_002, `Transaction simulation failed: ${describeTransactionError(result.err)}`, {
    err: result.err,
    accounts: null,
    logs: result.logs,
    unitsConsumed: result.units,
    returnData: result.returnData && renderReturnData(result.returnData),
    innerInstructions: null,
  });
}

function signatureFailure(): RpcError {
  return new RpcError(-32_003, 'Transaction signature verification failure');
}

/** Decodes and parses a transaction. Throws if it is malformed or larger than a node accepts. */
function readTransaction(text: unknown, { encoding }: Config): WireTransaction {
  const limit = encoding === 'base64' ? MAX_ENCODED.base64 : MAX_ENCODED.base58;
  const name = 'VersionedTransaction';
  if (typeof text === 'string' && text.length > limit)
    throw invalidParams(
      `${encoding ?? 'base58'} encoded ${name} too large: ${text.length} bytes (max: encoded/raw ${limit}/${MAX_TRANSACTION_BYTES})`,
    );
  const raw = decodeText(text, encoding);
  if (raw.length > MAX_TRANSACTION_BYTES)
    throw invalidParams(
      `decoded ${name} too large: ${raw.length} bytes (max: ${MAX_TRANSACTION_BYTES} bytes)`,
    );
  return parse(() => parseTransaction(raw), name);
}

function parse<T>(work: () => T, name: string): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof MalformedTransaction)
      throw invalidParams(`failed to deserialize ${name}: ${error.message}`);
    throw error;
  }
}

function renderSimulation(node: Node, transaction: WireTransaction, result: Simulation, config: Config) {
  const bank = node.bank(config);
  const { timeline } = node.chain;
  return {
    err: result.err,
    logs: result.logs,
    accounts: renderPostAccounts(node, result, config),
    unitsConsumed: result.units,
    returnData: result.returnData && renderReturnData(result.returnData),
    innerInstructions:
      config.innerInstructions === true
        ? renderInner({ inner: result.inner, keys: transaction.keys }, false)
        : null,
    ...(config.replaceRecentBlockhash === true && {
      replacementBlockhash: {
        blockhash: base58.encode(timeline.blockhash(bank.slot)),
        lastValidBlockHeight: timeline.height(bank.slot) + MAX_BLOCKHASH_AGE,
      },
    }),
  };
}

function renderPostAccounts(node: Node, { err, accounts }: Simulation, config: Config) {
  if (config.accounts === undefined || config.accounts === null) return null;
  const { addresses, encoding = 'base64' } = readConfig(config.accounts);
  if (encoding === 'base58') throw invalidParams('base58 encoding not supported');
  const bank = node.bank(config);
  return readList(addresses, 100).map((address) => {
    const key = readKey(address);
    const state = err === null ? (accounts.get(toHex(key)) ?? bank.account(key)) : null;
    return renderAccount(bank, state, { encoding }, 'base64');
  });
}
