import { isCausewayError } from '../error.ts';

/** Returns the result of a call, or null if the service answered with one of these error codes. */
export function ignoreErrors<Result>(call: Promise<Result>, ...codes: string[]): Promise<Result | null> {
  return call.catch((error: unknown) => {
    if (isCausewayError(error) && codes.includes(error.code)) return null;
    throw error;
  });
}
