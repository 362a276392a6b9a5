import { type CausewayErrorCode, isCausewayError } from '../error.ts';
import type { EvmChain } from '../wire.ts';
import { hasCode, messageOf } from './wallet-error.ts';

/** What a flow itself can stop for, beside the service's codes. */
export type FlowCode =
  /** The signal was aborted; `cause` is its reason. */
  | 'aborted'
  /** The wallet's owner said no. */
  | 'user_rejected'
  /** The wallet failed in a way of its own. */
  | 'wallet_error'
  /** The wallet no longer has the account that the flow was begun with. */
  | 'wallet_changed'
  /** The wallet is on another chain and stays there. */
  | 'wrong_chain'
  /** Mined, but it failed; `details.reason` says why where the chain tells. */
  | 'transaction_reverted'
  /** Its owner replaced it by another one (a cancellation). */
  | 'transaction_replaced'
  /** The chain does not know the transaction. */
  | 'transaction_not_found'
  /** Sent, but not mined in time; it may still be. */
  | 'confirmation_timeout'
  /** The token did not do what an approval is. */
  | 'approval_failed'
  /** The token takes no permits (EIP-2612), or not of this wallet. */
  | 'permit_not_supported'
  /** An earlier participation of the wallet still needs its allowance. */
  | 'participation_outstanding'
  /** The offer does not take this asset on this chain. */
  | 'asset_not_accepted'
  /** The fund's swaps are stopped now. */
  | 'swap_stopped'
  /** The wallet is not on the fund's allow-list. */
  | 'wallet_not_authorized'
  /** The option wants a wallet that is bound to it, and this one is not. */
  | 'wallet_not_bound'
  /** The fund cannot take the whole amount now. */
  | 'supply_short'
  /** Less would be received than asked for. */
  | 'price_moved'
  /** The order's time was over before it could be sent. */
  | 'quote_expired'
  /** The calldata is not what was ordered; it was not sent. `details.findings` says what is wrong. */
  | 'calldata_refused'
  /** Mined, but its events do not tell what became of it. */
  | 'outcome_unknown'
  /** The flow was given something that cannot be. */
  | 'invalid_input';

/** A transaction that the wallet has sent; told again with the new hash when its owner has sped it up. */
export type SentTransaction<Phase extends string> = { phase: Phase; hash: `0x${string}` };

/**
 * What every flow takes beside its input.
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
  /** Told when a phase begins. */
  onPhase?: ((phase: Phase) => void) | undefined;
  /** Told of every transaction as soon as the wallet has sent it. */
  onTransaction?: ((sent: SentTransaction<Phase>) => void) | undefined;
  /** Milliseconds to wait for a transaction to be mined; ten minutes unless told. */
  confirmWithin?: number | undefined;
  /** Milliseconds between looks at the chain; 2,000 unless told. */
  pollEvery?: number | undefined;
  /** Nodes to tell a wallet that does not know the chain yet; without them such a wallet is `wrong_chain`. */
  rpcUrls?: Partial<Record<EvmChain, readonly string[]>> | undefined;
};

type More = {
  cause?: unknown;
  transactionHash?: `0x${string}` | undefined;
  details?: Record<string, unknown> | undefined;
};

/**
 * A flow that stopped: in which phase, and why. `code` is the service's (then `cause` is its `CausewayError`, with
 * `errors` and `eventId`) or one of the flow's own (`FlowCode`).
 *
 * @example
 * ```ts
 * import { FlowError } from '@causeway/sdk/flows';
 *
 * const error = new FlowError('approving', 'user_rejected', 'The wallet turned the request down.');
 * console.log(error.phase, error.code);
 * ```
 */
export class FlowError<Phase extends string = string> extends Error {
  override readonly name = 'FlowError';
  readonly phase: Phase;
  readonly code: FlowCode | CausewayErrorCode;
  /** The transaction that it is about, if one was sent. */
  readonly transactionHash: `0x${string}` | undefined;
  readonly details: Record<string, unknown>;

  constructor(
    phase: Phase,
    code: FlowCode | CausewayErrorCode,
    message: string,
    { cause, transactionHash, details }: More = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.phase = phase;
    this.code = code;
    this.transactionHash = transactionHash;
    this.details = details ?? {};
  }
}

/**
 * Also true for an error of another copy of this package.
 *
 * @example
 * ```ts
 * import { FlowError, isFlowError } from '@causeway/sdk/flows';
 *
 * const error: unknown = new FlowError('signing', 'user_rejected', 'The wallet turned the request down.');
 * if (isFlowError(error, 'user_rejected')) console.log(`nothing was signed while ${error.phase}`);
 * ```
 */
export function isFlowError(error: unknown, code?: FlowCode | CausewayErrorCode): error is FlowError {
  const is = error instanceof Error && error.name === 'FlowError';
  return is && (code === undefined || (error as FlowError).code === code);
}

/** Why a step cannot go on; the flow adds the phase. */
export class Stop extends Error {
  readonly code: FlowCode | CausewayErrorCode;
  readonly more: More;

  constructor(code: FlowCode | CausewayErrorCode, message: string, more: More = {}) {
    super(message);
    this.code = code;
    this.more = more;
  }
}

/** EIP-1193's code for a request that the user turned down. */
const USER_REJECTED = 4001;

export type Enter<Phase extends string> = (phase: Phase) => void;

/** Where a flow is; `tell` passes on a transaction of the present phase. */
export type Progress<Phase extends string> = { enter: Enter<Phase>; tell(hash: `0x${string}`): void };

/** Runs the steps of a flow; whatever one throws comes out as a `FlowError` of its phase. */
export async function runFlow<Phase extends string, Result>(
  { signal, onPhase, onTransaction }: FlowOptions<Phase>,
  first: NoInfer<Phase>,
  steps: (progress: Progress<Phase>) => Promise<Result>,
): Promise<Result> {
  let now: Phase = first;
  const enter = (phase: Phase) => {
    signal?.throwIfAborted();
    now = phase;
    onPhase?.(phase);
  };
  try {
    enter(first);
    return await steps({ enter, tell: (hash) => onTransaction?.({ phase: now, hash }) });
  } catch (error) {
    throw toFlowError(now, error, signal);
  }
}

function toFlowError<Phase extends string>(
  phase: Phase,
  error: unknown,
  signal: AbortSignal | undefined,
): FlowError<Phase> {
  if (error instanceof FlowError) return error as FlowError<Phase>;
  if (error instanceof Stop) return new FlowError(phase, error.code, error.message, error.more);
  if (signal?.aborted)
    return new FlowError(phase, 'aborted', 'The flow was stopped.', { cause: signal.reason });
  if (isCausewayError(error))
    return new FlowError(phase, error.code, error.message, { cause: error, details: error.errors });
  if (hasCode(error, USER_REJECTED, 'ACTION_REJECTED'))
    return new FlowError(phase, 'user_rejected', 'The wallet turned the request down.', { cause: error });
  return new FlowError(phase, 'wallet_error', messageOf(error), { cause: error });
}
