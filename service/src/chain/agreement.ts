const NEEDED_PROVIDERS = 2;

/**
 * Returns whether at least two independent providers reach `verdict`. A provider that fails does not count as one of
 * them. On a chain with only one provider, returns true without a check.
 */
export async function isAgreed<View>(
  views: readonly View[],
  verdict: string,
  judge: (view: View) => Promise<string>,
): Promise<boolean> {
  if (views.length < NEEDED_PROVIDERS) return true;
  const verdicts = await Promise.allSettled(views.map(judge));
  const agreeing = verdicts.filter((each) => each.status === 'fulfilled' && each.value === verdict);
  return agreeing.length >= NEEDED_PROVIDERS;
}
