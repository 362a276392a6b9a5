import type { KycLevel } from '../../wire.ts';
import { openIdentityDialog } from './identity-dialog.ts';

export type IdentityRequest = {
  level: KycLevel;
  /** A new token for the same flow, when the first has expired in the middle of it. */
  refreshToken(): Promise<string>;
  /** Closes the flow. */
  signal: AbortSignal;
};

/** Shows the identity provider's flow; resolves when the user has left it, however far they came. */
export type IdentityLauncher = { open(token: string, request: IdentityRequest): Promise<void> };

/**
 * Shows a page of an identity flow in a dialog; `{kyc_token}` in the address is replaced. The sandbox tells its own
 * as `identity_flow_url`.
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
    open: (token, { signal }) =>
      openIdentityDialog(signal, (place) => {
        const frame = document.createElement('iframe');
        frame.className = 'cw-identity-frame';
        frame.title = 'Identity verification';
        frame.allow = 'camera; microphone; fullscreen';
        frame.src = urlTemplate.replaceAll('{kyc_token}', encodeURIComponent(token));
        place.append(frame);
        return undefined;
      }),
  };
}

type WebSdk = {
  init(token: string, refresh: () => Promise<string>): WebSdk;
  withConf(conf: { lang: string; theme: string }): WebSdk;
  withOptions(options: { addViewportTag: boolean; adaptIframeHeight: boolean }): WebSdk;
  build(): { launch(selector: string): void; destroy?(): void };
};

const BUILDER = 'https://static.sumsub.com/idensic/static/sns-websdk-builder.js';

/**
 * Sumsub's web SDK, loaded from its own address when the flow starts; what the provider uses unless told otherwise.
 * A content security policy has to allow `https://static.sumsub.com` as script and `https://*.sumsub.com` as frame.
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
    open: async (token, { refreshToken, signal }) => {
      const sdk = await loadWebSdk();
      await openIdentityDialog(signal, (place) => {
        place.id = 'cw-identity-place';
        const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
        const flow = sdk
          .init(token, refreshToken)
          .withConf({ lang: language, theme })
          .withOptions({ addViewportTag: false, adaptIframeHeight: true })
          .build();
        flow.launch(`#${place.id}`);
        return () => flow.destroy?.();
      });
    },
  };
}

function loadWebSdk(): Promise<WebSdk> {
  const page = window as { snsWebSdk?: WebSdk };
  if (page.snsWebSdk !== undefined) return Promise.resolve(page.snsWebSdk);
  return new Promise((done, fail) => {
    const failed = () => {
      script.remove();
      fail(new Error('The identity provider could not be reached. Check your connection and try again.'));
    };
    const script = document.createElement('script');
    script.src = BUILDER;
    script.async = true;
    script.onload = () => (page.snsWebSdk === undefined ? failed() : done(page.snsWebSdk));
    script.onerror = failed;
    document.head.append(script);
  });
}
