const INTERACTION = /^\/interaction\/([A-Za-z0-9_-]{1,64})$/;

/** Where a visit may go on to: a sign-in that an app has begun. Anything else is not ours to redirect to. */
export function readNext(value: unknown): string | null {
  return typeof value === 'string' && INTERACTION.test(value) ? value : null;
}

export function interactionPath(uid: string): string {
  return `/interaction/${uid}`;
}

export function interactionUid(next: string | null): string | null {
  return next === null ? null : (INTERACTION.exec(next)?.[1] ?? null);
}
