import { CausewayError, isCausewayError } from '../../error.ts';

/** Whatever a call threw, as the one kind that components show. */
export function toCausewayError(error: unknown): CausewayError {
  if (isCausewayError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new CausewayError({ code: 'network_error', status: 0, message, cause: error });
}

/** EIP-1193's code for a request that the user turned down; libraries wrap it in errors of theirs. */
export function isRejection(error: unknown): boolean {
  for (let one = error; one instanceof Object; one = (one as { cause?: unknown }).cause)
    if ([4001, 'user_rejected'].includes((one as { code?: string | number }).code ?? '')) return true;
  return false;
}
