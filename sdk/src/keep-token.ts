import type { TokenSource } from './request.ts';

type Given = { token: string; seconds: number };

/** A token is replaced so long before its end: time for the request that it is meant for. */
const BEFORE_END = 30;

/** Keeps a token until near its end; asks once however many wait, and again when the service has refused it. */
export function keepToken(ask: (refresh: boolean) => Promise<Given>): Exclude<TokenSource, string> {
  let kept: { token: string; until: number } | undefined;
  let asking: Promise<string> | undefined;
  return async ({ refresh }) => {
    if (asking !== undefined) return asking;
    if (kept !== undefined && kept.until > performance.now() && !refresh) return kept.token;
    asking = ask(refresh)
      .then(({ token, seconds }) => {
        kept = { token, until: performance.now() + (seconds - BEFORE_END) * 1000 };
        return token;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
}
