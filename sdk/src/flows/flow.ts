import { isCausewayError } from '../error.ts';

export type FlowOptions<Phase extends string> = {
  signal?: AbortSignal | undefined;
  /** Told when a phase begins. */
  onPhase?: ((phase: Phase) => void) | undefined;
};

/**
 * A flow that stopped: in which phase, and why. `code` is the service's, or one of the flow's own:
 * `user_rejected` (the wallet's owner said no), `transaction_reverted`, `wallet_error`, …
 */
export class FlowError<Phase extends string = string> extends Error {
  override readonly name = 'FlowError';
  readonly phase: Phase;
  readonly code: string;

  constructor(phase: Phase, code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.phase = phase;
    this.code = code;
  }
}

/** EIP-1193's code for a request that the user turned down. */
const USER_REJECTED = 4001;

/** Runs the steps of a flow; whatever one throws comes out as a `FlowError` of its phase. */
export async function runFlow<Phase extends string, Result>(
  options: FlowOptions<Phase>,
  first: Phase,
  steps: (enter: (phase: Phase) => void) => Promise<Result>,
): Promise<Result> {
  let now = first;
  const enter = (phase: Phase) => {
    options.signal?.throwIfAborted();
    now = phase;
    options.onPhase?.(phase);
  };
  try {
    enter(first);
    return await steps(enter);
  } catch (error) {
    if (error instanceof FlowError || options.signal?.aborted) throw error;
    if (isCausewayError(error)) throw new FlowError(now, error.code, error.message, error);
    const { code, message } = error as { code?: unknown; message?: unknown };
    throw isRejection(error)
      ? new FlowError(now, 'user_rejected', 'The wallet turned the request down.', error)
      : new FlowError(now, typeof code === 'string' ? code : 'wallet_error', String(message), error);
  }
}

/** Wallets' own errors come wrapped in those of libraries. */
function isRejection(error: unknown): boolean {
  for (let one: unknown = error; one instanceof Object; one = (one as { cause?: unknown }).cause)
    if ((one as { code?: unknown }).code === USER_REJECTED) return true;
  return false;
}
