import { base, Check } from 'oidc-provider/lib/helpers/interaction_policy/index.js';
import type { OAuthHooks } from '../../platform/context/ports.ts';

export const MULTI_FACTOR = 'https://refeds.org/profile/mfa';
/** Phishing-resistant (OpenID Connect EAP ACR Values 1.0): a passkey. */
const PHISHING_RESISTANT = 'phr';

/** The authentication contexts that apps can ask for with `acr_values`, the strongest first. */
export const ACR_VALUES = [PHISHING_RESISTANT, MULTI_FACTOR] as const;

/**
 * The `amr` values (RFC 8176) of each way to sign in. A passkey has `pop`, because it proves possession of a key. A
 * passkey does not have `hwk`, because nothing proves that hardware protects the key: synced passkeys leave the device.
 */
export const AMR = {
  password: ['pwd'],
  code: ['pwd', 'otp', 'mfa'],
  passkey: ['pop', 'user', 'mfa'],
} as const;

export function contextsOf(amr: readonly string[]): string[] {
  if (amr.includes('pop')) return [PHISHING_RESISTANT, MULTI_FACTOR];
  return amr.includes('mfa') ? [MULTI_FACTOR] : [];
}

/**
 * Returns the `acr` of an ID token: the first requested context that the authentication meets. If there is none,
 * returns the strongest context that the authentication meets, or undefined if the authentication meets no context at
 * all.
 */
export function acrFor(amr: readonly string[], requested: readonly string[]): string | undefined {
  const met = contextsOf(amr);
  return requested.find((value) => met.includes(value)) ?? met[0];
}

/** Drops unknown values, because the requested values are preferences, not demands (Core 1.0 §3.1.2.1). */
export function readAcrValues(parameter: unknown): string[] {
  const requested = typeof parameter === 'string' ? parameter.split(' ') : [];
  return requested.filter((value) => ACR_VALUES.some((known) => known === value));
}

/** Returns true if no context was requested. */
export function meetsAcr(amr: readonly string[], requested: readonly string[]): boolean {
  return requested.length === 0 || contextsOf(amr).some((met) => requested.includes(met));
}

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
