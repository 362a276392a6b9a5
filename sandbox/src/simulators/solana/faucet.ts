import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  encodeMessage,
  encodeTransaction,
  type Instruction,
  readonly,
  signer,
  writable,
} from '@causeway/contracts/encodings/solana-message.ts';
import { base58 } from '@scure/base';
import { solanaRoles } from '../../seed/solana-keys.ts';
import { ControlError } from '../control.ts';
import { RpcError } from '../rpc-error.ts';
import type { SolanaChain } from './chain.ts';
import { associatedAccount } from './derived-address.ts';
import type { SolanaToken } from './genesis.ts';
import type { Node } from './node.ts';
import { ASSOCIATED_TOKEN_PROGRAM, MEMO_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM } from './programs.ts';
import { describeTransactionError } from './transaction-error.ts';
import { parseTransaction, type WireTransaction } from './wire-transaction.ts';

export type FaucetInput = { address: string; asset_id?: string; amount: string };

const MAX_U64 = 2n ** 64n - 1n;
const MAX_AIRDROP_LAMPORTS = 100_000_000_000n;
const SYSTEM_TRANSFER = 2;
const CREATE_IDEMPOTENT = 1;
const MINT_TO = 7;
const POLL_INTERVAL_MS = 50;
const CONFIRMATION_TIMEOUT_MS = 20_000;

const { faucet } = solanaRoles;

/** Sends lamports and returns the signature, like the RPC method `requestAirdrop`. */
export function payFromFaucet(node: Node, address: Uint8Array, lamports: bigint): string {
  if (lamports > MAX_AIRDROP_LAMPORTS)
    throw new RpcError(-32_603, 'airdrop request failed. The faucet pays at most 100 SOL at once.');
  const transaction = buildPayment(node.chain, [transferLamports(address, lamports)]);
  node.chain.submit(transaction);
  return base58.encode(transaction.signatures[0] as Buffer);
}

/** Sends lamports or mints tokens, and waits until the payment is confirmed. */
export async function payAndConfirm(
  chain: SolanaChain,
  tokens: readonly SolanaToken[],
  { address, asset_id, amount }: FaucetInput,
): Promise<{ transaction_hash: string }> {
  if (BigInt(amount) > MAX_U64) throw invalid('amount', 'is too large');
  const key = decodeAddress(address);
  const transaction = buildPayment(chain, planPayment(tokens, key, asset_id, BigInt(amount)));
  const { err } = chain.ledger.simulate(transaction, chain.slots().processed, {
    verifySignatures: true,
    checkBlockhash: true,
  });
  if (err !== null) throw refusal(err);
  const signature = base58.encode(transaction.signatures[0] as Buffer);
  chain.submit(transaction);
  await chain.committed();
  for (const deadline = performance.now() + CONFIRMATION_TIMEOUT_MS; performance.now() < deadline; ) {
    const { confirmed } = chain.slots();
    if ((chain.ledger.find(signature)?.slot ?? Number.POSITIVE_INFINITY) <= confirmed)
      return { transaction_hash: signature };
    await sleep(POLL_INTERVAL_MS);
  }
  throw new ControlError('validation_failed', 'the payment was not confirmed, because slots do not advance');
}

function planPayment(
  tokens: readonly SolanaToken[],
  owner: Uint8Array,
  assetId: string | undefined,
  amount: bigint,
): Instruction[] {
  if (assetId === undefined) return [transferLamports(owner, amount)];
  const token = tokens.find(({ asset_id }) => asset_id === assetId);
  if (!token) throw invalid('asset_id', 'is unknown on this chain');
  return mintTokens(owner, base58.decode(token.address), amount);
}

function buildPayment(chain: SolanaChain, instructions: Instruction[]): WireTransaction {
  const { processed } = chain.slots();
  const message = encodeMessage({
    feePayer: faucet.publicKey,
    blockhash: chain.timeline.blockhash(processed),
    // Without the random memo, two identical payments in one slot would be the same transaction.
    instructions: [...instructions, memo(`faucet ${randomBytes(6).toString('hex')}`)],
  });
  return parseTransaction(Buffer.from(encodeTransaction(message, [faucet.sign(message)])));
}

function transferLamports(to: Uint8Array, lamports: bigint): Instruction {
  const data = Buffer.alloc(12);
  data.writeUInt32LE(SYSTEM_TRANSFER, 0);
  data.writeBigUInt64LE(lamports, 4);
  return { program: SYSTEM_PROGRAM, accounts: [signer(faucet.publicKey), writable(to)], data };
}

function mintTokens(owner: Uint8Array, mint: Uint8Array, amount: bigint): Instruction[] {
  const account = associatedAccount(owner, mint);
  const data = Buffer.alloc(9);
  data.writeUInt8(MINT_TO, 0);
  data.writeBigUInt64LE(amount, 1);
  return [
    {
      program: ASSOCIATED_TOKEN_PROGRAM,
      accounts: [
        signer(faucet.publicKey),
        writable(account),
        readonly(owner),
        readonly(mint),
        readonly(SYSTEM_PROGRAM),
        readonly(TOKEN_PROGRAM),
      ],
      data: Uint8Array.of(CREATE_IDEMPOTENT),
    },
    {
      program: TOKEN_PROGRAM,
      accounts: [writable(mint), writable(account), signer(faucet.publicKey, false)],
      data,
    },
  ];
}

function memo(text: string): Instruction {
  return { program: MEMO_PROGRAM, accounts: [], data: Buffer.from(text) };
}

function decodeAddress(address: string): Uint8Array {
  try {
    const key = base58.decode(address);
    if (key.length === 32 && base58.encode(key) === address) return key;
  } catch {
    // Text that is not base58 gets the same error as text of the wrong length.
  }
  throw invalid('address', 'is not a Solana address');
}

function invalid(field: string, problem: string): ControlError {
  return new ControlError('validation_failed', `the ${field} ${problem}`, { [field]: [problem] });
}

function refusal(err: Parameters<typeof describeTransactionError>[0]): ControlError {
  if (typeof err === 'object' && 'InsufficientFundsForRent' in err)
    return invalid('amount', 'is below the minimum balance of a new account (890,880 lamports)');
  return new ControlError('contract_reverted', describeTransactionError(err));
}
