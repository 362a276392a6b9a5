const NEEDED_PROVIDERS = 2;

/**
 * Returns whether two independent providers reach `verdict`. On a chain with only one provider, the verdict
 * is accepted unchecked. A provider that fails does not count.
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
