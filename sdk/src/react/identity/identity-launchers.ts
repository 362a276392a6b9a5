import type { KycLevel } from '../../wire.ts';
import { type IdentityDialog, openIdentityDialog } from './identity-dialog.ts';

export type IdentityRequest = {
  level: KycLevel;
  /** Returns a new token if the first expires in the middle of the flow. */
  refreshToken(): Promise<string>;
  /** Closes the flow when aborted. */
  signal: AbortSignal;
  dialog: IdentityDialog;
};

/** Shows the identity provider's flow; `open` resolves when the user leaves it, finished or not. */
export type IdentityLauncher = { open(token: string, request: IdentityRequest): Promise<void> };

/**
 * Shows a hosted identity flow in a dialog. `{kyc_token}` in the URL is replaced with the token; the sandbox returns
 * its own URL as `identity_flow_url`.
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
    open: (token, { signal, dialog }) =>
      openIdentityDialog(signal, dialog, (container) => {
        const frame = document.createElement('iframe');
        frame.className = 'cw-identity-frame';
        frame.title = dialog.title;
        frame.allow = 'camera; microphone; fullscreen';
        frame.src = urlTemplate.replaceAll('{kyc_token}', encodeURIComponent(token));
        container.append(frame);
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

const WEB_SDK_URL = 'https://static.sumsub.com/idensic/static/sns-websdk-builder.js';

/**
 * Shows Sumsub's web SDK, loaded from Sumsub when the flow starts. The default of `CausewayProvider`. A content security
 * policy must allow scripts from `https://static.sumsub.com` and frames from `https://*.sumsub.com`.
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
    open: async (token, { refreshToken, signal, dialog }) => {
      const sdk = await loadWebSdk();
      await openIdentityDialog(signal, dialog, (container) => {
        container.id = 'cw-identity-container';
        const flow = sdk
          .init(token, refreshToken)
          .withConf({ lang: language, theme: themeOf(container) })
          .withOptions({ addViewportTag: false, adaptIframeHeight: true })
          .build();
        flow.launch(`#${container.id}`);
        return () => flow.destroy?.();
      });
    },
  };
}

/** Returns the theme that the host has chosen for an element; the system's only if the host leaves the choice to it. */
function themeOf(element: Element): 'light' | 'dark' {
  const { colorScheme } = getComputedStyle(element);
  if (!colorScheme.includes('dark')) return 'light';
  const isEither = colorScheme.includes('light');
  return isEither && !matchMedia('(prefers-color-scheme: dark)').matches ? 'light' : 'dark';
}

function loadWebSdk(): Promise<WebSdk> {
  const page = window as { snsWebSdk?: WebSdk };
  if (page.snsWebSdk !== undefined) return Promise.resolve(page.snsWebSdk);
  return new Promise((resolve, reject) => {
    const fail = () => {
      script.remove();
      reject(new Error("We couldn't reach the identity provider. Check your connection and try again."));
    };
    const script = document.createElement('script');
    script.src = WEB_SDK_URL;
    script.async = true;
    script.onload = () => (page.snsWebSdk === undefined ? fail() : resolve(page.snsWebSdk));
    script.onerror = fail;
    document.head.append(script);
  });
}
