const INTERACTION_PATH = /^\/interaction\/([A-Za-z0-9_-]{1,64})$/;

/** Parses the `next` parameter. Only an app's pending sign-in is allowed; anything else would be an open redirect. */
export function parseReturnPath(next: unknown): string | null {
  return typeof next === 'string' && INTERACTION_PATH.test(next) ? next : null;
}

export function interactionPath(uid: string): string {
  return `/interaction/${uid}`;
}

export function interactionUid(returnPath: string | null): string | null {
  return returnPath === null ? null : (INTERACTION_PATH.exec(returnPath)?.[1] ?? null);
}
