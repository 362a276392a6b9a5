import { loadParts } from '../load-parts.ts';
import type { IdentityLauncher, IdentityRequest } from './identity-dialog.ts';

export type { IdentityLauncher, IdentityRequest };

/**
 * Shows a hosted identity flow in a dialog. `{kyc_token}` in the URL is replaced with the token. For a sandbox, use the
 * `identity_flow_url` that `GET /sandbox` returns.
 *
 * @example
 * ```ts
 * import { hostedIdentity } from '@causeway/sdk/react';
 *
 * const identity = hostedIdentity('https://identity.example.com/flow?token={kyc_token}');
 * console.log(typeof identity.open);
 * ```
 */
export function hostedIdentity(urlTemplate: string): IdentityLauncher {
  return {
    open: async (token, request) => (await loadParts()).openHostedFlow(urlTemplate, token, request),
  };
}

/**
 * Shows Sumsub's web SDK, loaded from Sumsub when the flow starts. `CausewayProvider` uses this launcher by default. A
 * content security policy must allow scripts from `https://static.sumsub.com` and frames from `https://*.sumsub.com`.
 *
 * @example
 * ```ts
 * import { sumsubIdentity } from '@causeway/sdk/react';
 *
 * const identity = sumsubIdentity({ language: 'de' });
 * console.log(typeof identity.open);
 * ```
 */
export function sumsubIdentity({
  language = 'en',
}: {
  language?: string | undefined;
} = {}): IdentityLauncher {
  return {
    open: async (token, request) => (await loadParts()).openSumsubFlow(language, token, request),
  };
}
