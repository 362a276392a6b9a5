import { type CausewayErrorCode, isCausewayError } from '../error.ts';
import type { EventHub } from '../event-hub.ts';
import { notify } from '../notify.ts';
import type { Chain } from '../wire.ts';
import type { PublicClient } from './wallet.ts';
import { isRejected, messageOf } from './wallet-error.ts';

/** The codes of failures in the flow itself. Errors from the service have the service's own codes. */
export type FlowCode =
  /** The signal was aborted. `cause` is the signal's reason. */
  | 'aborted'
  /** The wallet's owner rejected the request. */
  | 'user_rejected'
  /** The wallet failed. `cause` is its error. */
  | 'wallet_error'
  /** The wallet no longer has the account that the flow started with. */
  | 'wallet_changed'
  /** The wallet is on another chain and did not switch. */
  | 'wrong_chain'
  /** The transaction was mined but reverted. `details.reason` has the reason if it is known. */
  | 'transaction_reverted'
  /** The owner replaced the transaction with another one, usually to cancel the original. */
  | 'transaction_replaced'
  /** The transaction was not found on chain. */
  | 'transaction_not_found'
  /** The transaction was sent but not mined in time. It may still be mined. */
  | 'confirmation_timeout'
  /** The expected allowance was not set. */
  | 'approval_failed'
  /** The wallet has no open approval for this contract. */
  | 'approval_not_found'
  /** The token does not support permits (EIP-2612), or the wallet cannot sign them. */
  | 'permit_not_supported'
  /**
   * The wallet has an earlier participation that is not settled yet. A new approval would replace the allowance that
   * the participation needs.
   */
  | 'participation_outstanding'
  /** The offer does not accept this asset on this chain. */
  | 'asset_not_accepted'
  /** Swaps for this fund are currently stopped. */
  | 'swap_stopped'
  /** The wallet is not on the fund's allow-list. */
  | 'wallet_not_authorized'
  /** The option accepts only wallets that are bound to it, and the wallet is not bound. */
  | 'wallet_not_bound'
  /** The fund cannot accept the whole amount at present. */
  | 'supply_short'
  /** The output fell below the requested minimum. */
  | 'price_moved'
  /** The order expired before it could be sent. */
  | 'quote_expired'
  /** The service returned a contract that is not in `trusted`. */
  | 'contract_not_trusted'
  /**
   * The token's decimals or symbol on chain differ from those in the offer. `details.actual` is the value on chain.
   * `details.decimals` or `details.symbol` is the value in the offer.
   */
  | 'token_mismatch'
  /** The message to sign is not a proof of ownership for this wallet, so it was not shown. */
  | 'message_refused'
  /**
   * The calldata does not match the order, so the transaction was not sent. `details.findings` lists the differences.
   */
  | 'calldata_refused'
  /**
   * Either it is unclear whether the wallet sent the transaction, or the transaction was mined without the expected
   * result.
   */
  | 'outcome_unknown'
  /** The flow's input is invalid. */
  | 'invalid_input';

/** A transaction that the wallet sent. If the owner speeds it up, it is reported again with the new hash. */
export type SentTransaction<Phase extends string> = {
  phase: Phase;
  /** The transaction hash or, on Solana, the signature in base58. */
  hash: string;
};

/**
 * The contracts that the host application trusts, per chain. If a compromised service returns other contracts, flows
 * refuse them. Tokenized purchases on real-money networks require `contracts`.
 *
 * @example
 * ```ts
 * import type { TrustedContracts } from '@causeway/sdk/flows';
 *
 * export const trusted: TrustedContracts = {
 *   ethereum_mainnet: { contracts: ['0x00000000000000000000000000000000000000f1'] },
 * };
 * ```
 */
export type TrustedContracts = Partial<
  Record<
    Chain,
    {
      /**
       * The fund and swap contracts. If set, flows approve and call only these contracts on this chain. Once you set
       * `contracts` for any chain, flows refuse every real-money network for which you have not set `contracts`.
       */
      contracts?: readonly string[] | undefined;
      /**
       * The address of each funding token, by asset id. If set, no other funding token is accepted. If you also list an
       * asset that users buy, its address is checked too.
       */
      tokens?: Readonly<Record<string, string>> | undefined;
      /**
       * Contracts that `allowWallet` may call in addition to the offer's allow-list. Needed if an offer's supplier
       * allows wallets through another contract.
       */
      suppliers?: readonly string[] | undefined;
      /**
       * The manager contracts of the venue that prices tokenized assets. Default on Ethereum mainnet: the address that
       * this package lists. Default on other real-money networks: none. Default on test networks: the `manager` of the
       * swap contract.
       */
      venueManagers?: readonly string[] | undefined;
    }
  >
>;

/**
 * The fields of a sign-in message. `domain` and `uri` must belong to an origin or redirect URI that is registered for
 * the partner. In the message, the optional `statement` follows the service's own sentence; Solana messages have none.
 */
export type SiweFields = { domain: string; uri: string; statement?: string };

/**
 * Options that every flow accepts.
 *
 * @example
 * ```ts
 * import type { BindWalletPhase, FlowOptions } from '@causeway/sdk/flows';
 *
 * const options: FlowOptions<BindWalletPhase> = {
 *   signal: AbortSignal.timeout(60_000),
 *   onPhase: (phase) => console.log(phase),
 * };
 * console.log(options.signal?.aborted);
 * ```
 */
export type FlowOptions<Phase extends string> = {
  signal?: AbortSignal | undefined;
  /** Called when a phase starts. */
  onPhase?: ((phase: Phase) => void) | undefined;
  /** Called for every transaction as soon as the wallet has sent it. */
  onTransaction?: ((sent: SentTransaction<Phase>) => void) | undefined;
  /**
   * Called with a promise of the wallet's answer whenever the flow asks the wallet to send a transaction. The answer
   * may arrive after the flow was aborted, because a wallet prompt cannot be withdrawn.
   */
  onSend?: ((answer: Promise<unknown>) => void) | undefined;
  /**
   * How long to wait for a transaction to be mined and, in token sales, for the wallet's earlier participations to
   * settle. Default: 600,000 (ten minutes).
   */
  confirmationTimeoutMs?: number | undefined;
  /** The interval at which the chain is polled. Default: 2,000. */
  pollIntervalMs?: number | undefined;
  /**
   * RPC URLs per chain. If an EVM wallet does not know the chain, the flow asks the wallet to add the chain with these
   * URLs. Without URLs, the flow fails with `wrong_chain`. On Solana, the flow reads the chain through these URLs,
   * because Solana wallets cannot read it.
   */
  rpcUrls?: Partial<Record<Chain, readonly string[]>> | undefined;
  /** The contracts to trust, if you do not want to rely on the service alone. */
  trusted?: TrustedContracts | undefined;
  /**
   * The viem public client through which the flow reads EVM chains, or a function that returns the client for a chain
   * id. Default: the wallet's node.
   */
  publicClient?: PublicClient | undefined;
  /**
   * The event stream to use, if your page already has one. The hooks in `@causeway/sdk/react` pass their own stream.
   * Default: the flow opens a stream while it waits for the service, and polls if it cannot open one.
   */
  events?: EventHub | undefined;
  /**
   * `auto` sends the approval and the swap as one batch if `wallet_getCapabilities` reports that the wallet executes
   * calls atomically (EIP-5792). `off` never sends a batch. Default: `auto`.
   */
  batching?: 'auto' | 'off' | undefined;
  /**
   * The sign-in message (ERC-4361 or, on Solana, its counterpart) with which the owner proves the wallet. The wallet
   * compares the message's domain with the page's. Default: the host and origin of the page, which must be registered
   * for the partner. Without a page, as on a server, the default is false: the owner signs a plain message. Solana has
   * no plain message, so pass the fields there. The service chooses them on Solana: those of the registered page that
   * sends the request, or else of the first registered origin. Messages that name another site are refused.
   */
  siwe?: SiweFields | false | undefined;
};

type ErrorInfo = {
  cause?: unknown;
  transactionHash?: string | undefined;
  details?: Record<string, unknown> | undefined;
};

/**
 * A failed flow, with the phase it failed in. `code` is one of the flow's own codes (`FlowCode`) or one of the
 * service's codes. For a service code, `cause` is the `CausewayError` with `errors` and `eventId`.
 *
 * @example
 * ```ts
 * import { FlowError } from '@causeway/sdk/flows';
 *
 * const error = new FlowError('approving', 'user_rejected', 'The request was rejected in the wallet.');
 * console.log(error.phase, error.code);
 * ```
 */
export class FlowError<Phase extends string = string> extends Error {
  override readonly name = 'FlowError';
  readonly phase: Phase;
  readonly code: FlowCode | CausewayErrorCode;
  /** The transaction that the error is about, if one was sent. */
  readonly transactionHash: string | undefined;
  readonly details: Record<string, unknown>;

  constructor(
    phase: Phase,
    code: FlowCode | CausewayErrorCode,
    message: string,
    { cause, transactionHash, details }: ErrorInfo = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.phase = phase;
    this.code = code;
    this.transactionHash = transactionHash;
    this.details = details ?? {};
  }
}

/**
 * Returns true for a `FlowError`, optionally with a given code. Unlike `instanceof`, this function also works across
 * copies of this package.
 *
 * @example
 * ```ts
 * import { FlowError, isFlowError } from '@causeway/sdk/flows';
 *
 * const error: unknown = new FlowError('signing', 'user_rejected', 'The request was rejected in the wallet.');
 * if (isFlowError(error, 'user_rejected')) console.log(`nothing was signed while ${error.phase}`);
 * ```
 */
export function isFlowError(error: unknown, code?: FlowCode | CausewayErrorCode): error is FlowError {
  const is = error instanceof Error && error.name === 'FlowError';
  return is && (code === undefined || (error as FlowError).code === code);
}

/** A failure in one step of a flow. `runFlow` turns it into a `FlowError` with the current phase. */
export class FlowFailure extends Error {
  readonly code: FlowCode | CausewayErrorCode;
  readonly info: ErrorInfo;

  constructor(code: FlowCode | CausewayErrorCode, message: string, info: ErrorInfo = {}) {
    super(message);
    this.code = code;
    this.info = info;
  }
}

export type Enter<Phase extends string> = (phase: Phase) => void;

/** Reports a flow's progress: each phase that it enters, and each transaction sent in that phase. */
export type Progress<Phase extends string> = { enter: Enter<Phase>; reportTransaction(hash: string): void };

/** Runs the steps of a flow. Any error they throw becomes a `FlowError` with the current phase. */
export async function runFlow<Phase extends string, Result>(
  { signal, onPhase, onTransaction }: FlowOptions<Phase>,
  first: NoInfer<Phase>,
  steps: (progress: Progress<Phase>) => Promise<Result>,
): Promise<Result> {
  let current: Phase = first;
  const enter = (phase: Phase) => {
    signal?.throwIfAborted();
    current = phase;
    notify(onPhase, phase);
  };
  try {
    enter(first);
    return await steps({
      enter,
      reportTransaction: (hash) => notify(onTransaction, { phase: current, hash }),
    });
  } catch (error) {
    throw toFlowError(current, error, signal);
  }
}

function toFlowError<Phase extends string>(
  phase: Phase,
  error: unknown,
  signal: AbortSignal | undefined,
): FlowError<Phase> {
  if (error instanceof FlowError) return error as FlowError<Phase>;
  if (error instanceof FlowFailure) return new FlowError(phase, error.code, error.message, error.info);
  if (signal?.aborted)
    return new FlowError(phase, 'aborted', 'The flow was aborted by its signal.', { cause: signal.reason });
  if (isCausewayError(error))
    return new FlowError(phase, error.code, error.message, { cause: error, details: error.errors });
  if (isRejected(error))
    return new FlowError(phase, 'user_rejected', 'The request was rejected in the wallet.', { cause: error });
  return new FlowError(phase, 'wallet_error', messageOf(error), { cause: error });
}
