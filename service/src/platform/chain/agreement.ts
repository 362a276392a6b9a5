const NEEDED_PROVIDERS = 2;

/** Providers that fail do not count. On a chain with only one provider, returns true without checking. */
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
