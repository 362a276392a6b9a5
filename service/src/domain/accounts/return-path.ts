const INTERACTION_PATH = /^\/interaction\/([A-Za-z0-9_-]{1,64})$/;
const ACCOUNT_PATH = /^\/account\/(email|password|second-factor|delete)$/;

/**
 * Parses the `next` parameter. Only an app's pending sign-in and the account forms are allowed: accepting any URL would
 * be an open redirect.
 */
export function parseReturnPath(next: unknown): string | null {
  if (typeof next !== 'string') return null;
  return INTERACTION_PATH.test(next) || ACCOUNT_PATH.test(next) ? next : null;
}

export function interactionPath(uid: string): string {
  return `/interaction/${uid}`;
}

export function interactionUid(returnPath: string | null): string | null {
  return returnPath === null ? null : (INTERACTION_PATH.exec(returnPath)?.[1] ?? null);
}
