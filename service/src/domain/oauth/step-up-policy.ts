import { base, Check } from 'oidc-provider/lib/helpers/interaction_policy/index.js';
import type { OAuthHooks } from '../../platform/context/ports.ts';
import { acrFor, meetsAcr, readAcrValues } from './acr.ts';

/**
 * Returns oidc-provider's policy with one more reason to show the sign-in page: the app has requested, with
 * `acr_values`, a stronger sign-in than this browser's session. A user who has no method that is strong enough
 * continues without seeing the page. The app learns from `acr` and `amr` how the user signed in.
 */
export function interactionPolicy(hooks: OAuthHooks) {
  const policy = base();
  policy.get('login')?.checks.add(
    new Check('acr_values', 'a stronger sign-in was requested', 'login_required', async ({ oidc }) => {
      const { session, params } = oidc;
      if (session?.accountId === undefined) return Check.NO_NEED_TO_PROMPT;
      const requested = readAcrValues(params?.acr_values);
      const amr = session.amr ?? [];
      const acr = acrFor(amr, requested);
      if (acr === undefined) delete session.acr;
      else session.acr = acr;
      if (meetsAcr(amr, requested) || hooks.canStepUp === null) return Check.NO_NEED_TO_PROMPT;
      return (await hooks.canStepUp(session.accountId, requested))
        ? Check.REQUEST_PROMPT
        : Check.NO_NEED_TO_PROMPT;
    }),
  );
  return policy;
}
